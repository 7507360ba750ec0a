package providerfetch_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/store/providerfetch"
	"github.com/cotterpin/cotter/internal/testenv"
)

func offers(s *source, trusted bool) providerfetch.Offers {
	return func(ctx context.Context, want providerfetch.Want) iter.Seq[providerfetch.Offer] {
		return func(yield func(providerfetch.Offer) bool) {
			pkg, err := s.Package(ctx, want.Provider, want.Version, want.Platform)
			s.requests()
			yield(providerfetch.Offer{Package: pkg, Err: err, Trusted: trusted})
		}
	}
}

// A trusted mirror replaces the source. An untrusted one only delivers archives that the source
// has proven or that this user has fetched before.
func TestOffers(t *testing.T) {
	t.Parallel()
	another := func(s *source) { s.archives[linux] = s.archives[mac] }
	for name, test := range map[string]struct {
		distrust bool
		change   func(*source)
		gotten   bool // the package was fetched before, and removed from the store
		offline  bool
		mirror   []string // the expected requests to the mirror
		source   []string
		warning  string
		keyID    string
		fails    bool
	}{
		"believed":                      {mirror: []string{"authenticate", "download"}, keyID: "AB"},
		"believed, offline":             {offline: true, mirror: []string{"authenticate", "download"}, keyID: "AB"},
		"not believed":                  {distrust: true, mirror: []string{"download"}, source: asks, keyID: "AB"},
		"not believed, got before":      {distrust: true, gotten: true, mirror: []string{"download"}, keyID: "AB"},
		"not believed, offline":         {distrust: true, offline: true, fails: true},
		"another package":               {change: another, mirror: []string{"authenticate", "download"}, source: fetches, warning: "memory:linux_amd64: the package has the hash h1:", keyID: "AB"},
		"another package, offline":      {change: another, offline: true, mirror: []string{"authenticate", "download"}, fails: true},
		"nothing for the platform":      {change: func(s *source) { delete(s.archives, linux) }, source: fetches, warning: "no package for this platform", keyID: "AB"},
		"another package, not believed": {distrust: true, change: another, source: fetches, keyID: "AB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			locked := want(linux, w.h1[linux], w.zh[linux])
			if test.gotten {
				before := w.getter(t)
				_, err := before.Get(t.Context(), locked)
				testenv.Must(t, errors.Join(err, before.Store.Close()))
				w.empty(t)
			}
			w.source.requests()
			mirror := &source{archives: map[addrs.Platform][]byte{linux: w.source.archives[linux], mac: w.source.archives[mac]}}
			if test.change != nil {
				test.change(mirror)
			}
			g := w.getter(t)
			g.Offline, g.Offers = test.offline, offers(mirror, !test.distrust)
			var warnings []string
			g.OnEvent = func(e event.Event) {
				if w, ok := e.(event.Warning); ok {
					warnings = append(warnings, w.Message)
				}
			}
			got, err := g.Get(t.Context(), locked)
			if (err != nil) != test.fails {
				t.Fatalf("Get = %v", err)
			}
			if err == nil && (got.H1 != w.h1[linux] || got.Authentication.KeyID != test.keyID) {
				t.Errorf("Get = %+v, want the key %q", got.Proof, test.keyID)
			}
			asked := mirror.requests()
			if diff := cmp.Diff(test.mirror, asked); diff != "" {
				t.Errorf("asked of the mirror (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.source, w.source.requests()); diff != "" {
				t.Errorf("asked of the source (-want +got):\n%s", diff)
			}
			if want := "provider example.com/acme/cloud 1.0.0: " + test.warning; len(warnings) > 1 || (test.warning != "") != (len(warnings) == 1) || len(warnings) == 1 && !strings.HasPrefix(warnings[0], want) {
				t.Errorf("warnings: %q, want %q", warnings, want)
			}
		})
	}
}

func (w *world) empty(t *testing.T) {
	t.Helper()
	g := w.getter(t)
	entries, err := g.Store.Entries()
	testenv.Must(t, err)
	for _, entry := range entries {
		if ok, err := g.Store.Remove(entry.Name); err != nil || !ok {
			t.Fatalf("Remove = %v, %v", ok, err)
		}
	}
}

// The archive is the published one if the lock has its zh. Otherwise it depends only on the
// content.
func TestArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	archive := func(g *providerfetch.Getter, locked ...hashing.Hash) ([]byte, []hashing.Hash, error) {
		t.Helper()
		got, err := g.Archive(t.Context(), want(linux, locked...))
		if err != nil {
			return nil, nil, err
		}
		var text bytes.Buffer
		if _, err := got.WriteTo(&text); err != nil || int64(text.Len()) != got.Size {
			t.Errorf("WriteTo: %d bytes, want %d, %v", text.Len(), got.Size, err)
		}
		return text.Bytes(), got.Hashes, got.Close()
	}
	h1, zh := w.h1[linux], w.zh[linux]
	published, hashes, err := archive(w.getter(t), h1, zh)
	if err != nil || !bytes.Equal(published, w.source.archives[linux]) || !slices.Equal(hashes, []hashing.Hash{h1, zh}) {
		t.Errorf("with a zh: %d bytes, %q, %v", len(published), hashes, err)
	}
	packed, hashes, err := archive(w.getter(t), h1)
	if err != nil || bytes.Equal(packed, published) || !slices.Equal(hashes, []hashing.Hash{h1}) {
		t.Errorf("with an h1: %d bytes, %q, %v", len(packed), hashes, err)
	}
	g := w.getter(t)
	if _, err := g.Get(t.Context(), want(linux, h1)); err != nil {
		t.Fatal(err)
	}
	w.source.requests()
	g.Offline = true
	if again, _, err := archive(g, h1); err != nil || !bytes.Equal(again, packed) {
		t.Errorf("from the store: %d bytes, want %d, %v", len(again), len(packed), err)
	}
	if _, _, err := archive(g, h1, zh); !errors.Is(err, providerfetch.ErrNotAtHand) {
		t.Errorf("offline with a zh: %v, want ErrNotAtHand", err)
	}
	if asked := w.source.requests(); len(asked) > 0 {
		t.Errorf("asked for %q", asked)
	}
	if _, _, err := archive(w.getter(t), otherH1, otherZH); !isMismatch(err) {
		t.Errorf("with the hashes of another package: %v", err)
	}
}

func isMismatch(err error) bool {
	mismatch, ok := errors.AsType[*getproviders.MismatchError](err)
	return ok && mismatch.Locked
}
