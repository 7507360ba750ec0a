package evidencerules_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
)

// TestTable compares the table with its copies in the package documentation and for users.
func TestTable(t *testing.T) {
	t.Parallel()
	want := strings.TrimSpace(table())
	for _, document := range []struct{ name, prefix string }{{"../../../installer/evidence/doc.go", "//\t"}, {"../../../docs/spec/trust.md", ""}} {
		text, err := os.ReadFile(document.name)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for line := range strings.Lines(string(text)) {
			row, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), document.prefix)
			if ok && (strings.HasPrefix(row, "| run ") || len(found) > 0 && strings.HasPrefix(row, "|")) {
				found = append(found, row)
			} else if len(found) > 0 {
				break
			}
		}
		if diff := cmp.Diff(strings.Split(want, "\n"), found); diff != "" {
			t.Errorf("%s does not have the table (-want +got):\n%s", document.name, diff)
		}
	}
}

func TestZeroValuesFailClosed(t *testing.T) {
	t.Parallel()
	var rule evidencerules.Rule
	for kind := evidence.None; kind <= evidence.Signature; kind++ {
		e := evidence.Evidence{Kind: kind}
		if rule.Accepts(e) || rule.AcceptsProvider(e) {
			t.Errorf("the zero rule accepts %v", kind)
		}
	}
	if rule.MovedTag != evidencerules.Refuse || rule.Unreachable != evidencerules.Refuse || rule.Unknown != evidencerules.Refuse || rule.Memos {
		t.Errorf("the zero rule does not refuse: %+v", rule)
	}
	if got := evidencerules.For(0); got.Accepts(evidence.Evidence{Kind: evidence.Origin}) {
		t.Error("a run of no kind accepts evidence")
	}
	for run := evidencerules.Install; run <= evidencerules.Restore; run++ {
		if r := evidencerules.For(run); r.Accepts(evidence.Evidence{}) || r.AcceptsProvider(evidence.Evidence{}) {
			t.Errorf("run %d accepts a package that nothing confirms", run)
		}
	}
}

func TestMemos(t *testing.T) {
	t.Parallel()
	origin := evidence.Evidence{Kind: evidence.Origin}
	mirror := evidence.Evidence{Kind: evidence.Mirror, By: "the mirror oci://mirror.example.com/modules"}
	other := evidence.Evidence{Kind: evidence.Mirror, By: "the mirror oci://other.example.com/modules"}
	for _, test := range []struct {
		name  string
		given evidence.Evidence
		named []evidence.Evidence
		want  evidence.Kind
	}{
		{"an origin", origin, nil, evidence.Origin},
		{"a registry whose keys have changed", evidence.Evidence{Kind: evidence.Signature, By: "34365D94"}, nil, evidence.Origin},
		{"the user", evidence.Evidence{Kind: evidence.User}, nil, evidence.User},
		{"an imported bundle", evidence.Evidence{Kind: evidence.Imported}, nil, evidence.Imported},
		{"a mirror that is still named", mirror, []evidence.Evidence{other, mirror}, evidence.Mirror},
		{"a mirror that is no longer named", mirror, nil, evidence.None},
		{"another mirror", mirror, []evidence.Evidence{other}, evidence.None},
		{"the project", evidence.Evidence{Kind: evidence.Project, By: "/home/me/infra"}, nil, evidence.None},
		{"an installed package", evidence.Evidence{Kind: evidence.Installed}, nil, evidence.None},
		{"nothing", evidence.Evidence{}, nil, evidence.None},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			first := &evidencerules.Memos{}
			first.Add(test.given, "the statement")
			kept, since := first.Take(), time.Unix(1_700_000_000, 0)
			if again := first.Take(); again != nil {
				t.Errorf("the records are given twice: %q", again)
			}
			later := &evidencerules.Memos{Named: test.named, Recorded: func(record string) (time.Time, bool) {
				return since, slices.Contains(kept, record)
			}}
			got := later.Find("the statement")
			if got.Kind != test.want || !got.IsZero() && !got.Since.Equal(since) {
				t.Errorf("got %v since %v, want %v", got.Kind, got.Since, test.want)
			}
			if got := later.Find("another statement"); !got.IsZero() {
				t.Errorf("another statement has the evidence %v", got)
			}
		})
	}
}

// Zero memos keep what is added, and know nothing else.
func TestZeroMemos(t *testing.T) {
	t.Parallel()
	var memos evidencerules.Memos
	if e := memos.Find("a"); !e.IsZero() {
		t.Errorf("zero memos have %v", e)
	}
	memos.Add(evidence.Evidence{Kind: evidence.Origin}, "a")
	if e := memos.Find("a"); e.Kind != evidence.Origin {
		t.Errorf("the evidence that was added is %v", e)
	}
}
