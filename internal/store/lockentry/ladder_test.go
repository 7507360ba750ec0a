package lockentry_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store/lockentry"
)

var errRefused = errors.New("refused")

// world is what the places of a ladder have, and the steps that were taken.
type world struct {
	remembered, mirror evidence.Kind
	checkFails         bool
	atHand             bool
	steps              []string
}

func (w *world) ladder(rule evidencerules.Rule) lockentry.Ladder[string] {
	step := func(name string) { w.steps = append(w.steps, name) }
	return lockentry.Ladder[string]{
		Remembered: func() evidence.Evidence { step("memo"); return evidence.Evidence{Kind: w.remembered} },
		Mirrors:    func(context.Context) evidence.Evidence { step("mirror"); return evidence.Evidence{Kind: w.mirror} },
		Accepts:    rule.Accepts,
		Check: func(context.Context, evidence.Evidence) error {
			step("check")
			if w.checkFails {
				return errRefused
			}
			return nil
		},
		AtHand: []lockentry.Lookup[string]{func(context.Context) (string, bool, error) {
			step("at hand")
			return "cached", w.atHand, nil
		}},
		Deliver: func(context.Context, evidence.Evidence) (string, error) { step("deliver"); return "delivered", nil },
		Origin: func(context.Context) (string, evidence.Evidence, error) {
			step("origin")
			return "fetched", evidence.Evidence{Kind: evidence.Origin}, nil
		},
	}
}

func TestClimb(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		world world
		run   evidencerules.Run
		want  string
		kind  evidence.Kind
		steps []string
	}{
		{"with evidence and bytes", world{remembered: evidence.Origin, atHand: true}, evidencerules.Install, "cached", evidence.Origin, []string{"memo", "check", "at hand"}},
		{"with evidence only", world{remembered: evidence.Origin}, evidencerules.Install, "delivered", evidence.Origin, []string{"memo", "check", "at hand", "deliver"}},
		{"with bytes only", world{atHand: true}, evidencerules.Install, "fetched", evidence.Origin, []string{"memo", "mirror", "origin"}},
		{"from a mirror", world{mirror: evidence.Mirror, atHand: true}, evidencerules.Locked, "cached", evidence.Mirror, []string{"memo", "mirror", "check", "at hand"}},
		{"a mirror that is not enough", world{mirror: evidence.Mirror, atHand: true}, evidencerules.VerifyRemote, "fetched", evidence.Origin, []string{"memo", "mirror", "origin"}},
		{"what a project brings is no evidence elsewhere", world{remembered: evidence.Project, atHand: true}, evidencerules.Publish, "fetched", evidence.Origin, []string{"memo", "mirror", "origin"}},
		{"to compare, without evidence", world{atHand: true}, evidencerules.Diff, "cached", evidence.None, []string{"memo", "mirror", "check", "at hand"}},
		{"with a failing check", world{remembered: evidence.Origin, checkFails: true, atHand: true}, evidencerules.Install, "", evidence.None, []string{"memo", "check"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := test.world
			got, e, err := w.ladder(evidencerules.For(test.run)).Climb(t.Context())
			if got != test.want || e.Kind != test.kind || (err != nil) != w.checkFails {
				t.Errorf("got %q, %v, %v", got, e.Kind, err)
			}
			if diff := cmp.Diff(test.steps, w.steps); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}
