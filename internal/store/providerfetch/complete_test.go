package providerfetch_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/store/providerfetch"
)

var errUnreachable = errors.New("unreachable")

// completions are a first and a second run, and the hashes after the second one.
var completions = map[string]struct {
	first, second func(w *world, g *providerfetch.Getter)
	all           bool // all hashes, and not only the h1
	asked         []string
	incomplete    error
}{
	"the same source": {nil, nil, true, nil, nil},
	"in an earlier run that wrote no lock": {
		func(_ *world, g *providerfetch.Getter) { g.Complete = false }, nil, true, nil, nil,
	},
	"no lock is written": {nil, func(_ *world, g *providerfetch.Getter) { g.Complete = false }, false, nil, nil},
	"another source": {
		func(w *world, _ *providerfetch.Getter) { w.source.gives = named },
		func(w *world, g *providerfetch.Getter) {
			w.source.gives, g.Stores = signature, []evidence.Evidence{named}
		},
		true, asks, nil,
	},
	"another source that cannot be reached": {
		func(w *world, _ *providerfetch.Getter) { w.source.gives = named },
		func(w *world, g *providerfetch.Getter) {
			w.source.gives, w.source.fail, g.Stores = signature, errUnreachable, []evidence.Evidence{named}
		},
		false, asks, errUnreachable,
	},
	"another source with another package": {
		func(w *world, _ *providerfetch.Getter) { w.source.gives = named },
		func(w *world, g *providerfetch.Getter) {
			w.source.gives, g.Stores = signature, []evidence.Evidence{named}
			w.source.archives[linux] = w.source.archives[mac]
		},
		false, fetches, nil,
	},
	"an imported bundle": {
		func(w *world, _ *providerfetch.Getter) { w.source.gives = evidence.Evidence{Kind: evidence.Imported} },
		func(w *world, _ *providerfetch.Getter) { w.source.gives = signature },
		false, nil, nil,
	},
	"with mirrors": {
		nil, func(_ *world, g *providerfetch.Getter) { g.Offers = noOffers },
		false, nil, nil,
	},
	"for the first time, with mirrors that do not have it": {
		func(w *world, g *providerfetch.Getter) { w.source.gives, g.Offers = named, noOffers },
		func(_ *world, g *providerfetch.Getter) { g.Offers = noOffers },
		false, nil, nil,
	},
}

// TestComplete gets a package whose h1 alone is locked, and gets it again in a second run. Its hashes
// must be those that the source confirms in the second run, whatever the first run was.
func TestComplete(t *testing.T) {
	t.Parallel()
	for name, test := range completions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var got *providerfetch.Got
			for _, change := range []func(*world, *providerfetch.Getter){test.first, test.second} {
				w.source.requests()
				g := w.getter(t)
				g.Complete = true
				if change != nil {
					change(w, g)
				}
				var err error
				if got, err = g.Get(t.Context(), want(linux, w.h1[linux])); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.asked, w.source.requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			hashes := []hashing.Hash{w.h1[linux]}
			if test.all {
				hashes = append(hashes, w.zh[linux], w.zh[mac])
				slices.Sort(hashes[1:])
			}
			if diff := cmp.Diff(hashes, got.Hashes); diff != "" {
				t.Errorf("hashes (-want +got):\n%s", diff)
			}
			if !errors.Is(got.Incomplete, test.incomplete) {
				t.Errorf("incomplete: %v, want %v", got.Incomplete, test.incomplete)
			}
		})
	}
}

func noOffers(context.Context, providerfetch.Want) iter.Seq[providerfetch.Offer] {
	return func(func(providerfetch.Offer) bool) {}
}
