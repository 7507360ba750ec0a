package providerfetch_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
)

// TestGetUnlocked gets a package for this machine whose lock was made on another platform. Get says so, and
// GetUnlocked does not download the package again.
func TestGetUnlocked(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*testing.T, *world)
		locked func(w *world) []hashing.Hash
		// otherPlatforms is set if Get says that the hashes may be those of other platforms.
		otherPlatforms bool
		refused        bool
		asked          []string
	}{
		"an h1":            {nil, func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[mac]} }, true, false, asks},
		"an h1 and its zh": {nil, func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[mac], w.zh[mac]} }, true, false, asks},
		"a zh of another release": {
			nil, func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[mac], otherZH} }, true, true, asks,
		},
		"the sums of another release": {
			nil, func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[mac], w.zh[mac], otherZH} }, false, true, asks,
		},
		"from the project": {
			func(_ *testing.T, w *world) { w.source.gives = brought },
			func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[mac]} }, true, true, asks,
		},
		"from a mirror": {
			func(_ *testing.T, w *world) { w.source.hidden = true },
			func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[mac], w.zh[mac]} }, true, false, fetches,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ask := want(linux, test.locked(w)...)
			if test.change != nil {
				test.change(t, w)
			}
			g := w.getter(t)
			g.Complete = true
			_, err := g.Get(t.Context(), ask)
			mismatch, ok := errors.AsType[*getproviders.MismatchError](err)
			if !ok || !mismatch.Locked || mismatch.OtherPlatforms != test.otherPlatforms {
				t.Errorf("Get = %#v, want a *MismatchError of the lock, with OtherPlatforms %v", err, test.otherPlatforms)
			}
			w.source.requests()
			got, err := g.GetUnlocked(t.Context(), ask)
			if diff := cmp.Diff(test.asked, w.source.requests()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if (err != nil) != test.refused {
				t.Fatalf("GetUnlocked = %+v, %v", got, err)
			}
			if err == nil && (got.H1 != w.h1[linux] || got.Matched != "" || got.Package == nil) {
				t.Errorf("GetUnlocked = %+v", got)
			}
		})
	}
}

// TestGetLockedKeepsNothing checks that a run that must not change the lock keeps nothing of a package that does not
// match it.
func TestGetLockedKeepsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.getter(t).Get(t.Context(), want(addrs.CurrentPlatform(), w.h1[mac]))
	if _, ok := errors.AsType[*getproviders.MismatchError](err); !ok || w.packages(t) != 0 {
		t.Errorf("Get = %v, and %d packages are kept", err, w.packages(t))
	}
}
