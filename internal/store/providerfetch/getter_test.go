package providerfetch_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/disk/providerzip"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/providerfetch"
	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

var (
	example = addrs.Provider{Hostname: "example.com", Namespace: "acme", Type: "cloud"}
	v100    = versions.MustParse("1.0.0")
	linux   = addrs.Platform{OS: "linux", Arch: "amd64"}
	mac     = addrs.Platform{OS: "darwin", Arch: "arm64"}
)

func zipOf(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		out, err := w.Create(name)
		if err == nil {
			_, err = out.Write([]byte(files[name]))
		}
		testenv.Must(t, err)
	}
	testenv.Must(t, w.Close())
	return b.Bytes()
}

func want(platform addrs.Platform, locked ...hashing.Hash) providerfetch.Want {
	return providerfetch.Want{Provider: example, Version: v100, Platform: platform, Locked: locked}
}

func (w *world) packages(t testing.TB) int {
	t.Helper()
	entries, err := store.ViewProviders(w.cache, userkey.Random()).Entries()
	testenv.Must(t, err)
	return len(entries)
}

const (
	unknown = hashing.Hash("zz:1")
	otherH1 = hashing.Hash("h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
	otherZH = hashing.Hash("zh:0000000000000000000000000000000000000000000000000000000000000001")
)

// TestGet gets a package with different hashes in the lock. Each row runs with an empty store
// and again with a store that has the package.
func TestGet(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		locked  func(w *world) []hashing.Hash
		matched func(w *world) hashing.Hash
		cold    []string // the expected requests to the source
		warm    []string
		refused bool
	}{
		"not locked": {nil, nil, fetches, asks, false},
		"the h1": {
			func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[linux]} },
			func(w *world) hashing.Hash { return w.h1[linux] }, fetches, nil, false,
		},
		"the zh": {
			func(w *world) []hashing.Hash { return []hashing.Hash{w.zh[mac], w.zh[linux]} },
			func(w *world) hashing.Hash { return w.zh[linux] }, fetches, nil, false,
		},
		"a wrong h1, the zh": {
			func(w *world) []hashing.Hash { return []hashing.Hash{otherH1, w.zh[linux]} },
			func(w *world) hashing.Hash { return w.zh[linux] }, fetches, nil, false,
		},
		"the h1, a wrong zh": {
			func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[linux], otherZH} },
			func(w *world) hashing.Hash { return w.h1[linux] }, fetches, nil, false,
		},
		"unknown schemes": {func(*world) []hashing.Hash { return []hashing.Hash{unknown} }, nil, fetches, asks, false},
		"a wrong h1":      {func(*world) []hashing.Hash { return []hashing.Hash{otherH1} }, nil, fetches, []string{"package"}, true},
		"a wrong zh":      {func(*world) []hashing.Hash { return []hashing.Hash{otherZH} }, nil, []string{"package"}, []string{"package"}, true},
	} {
		w := newWorld(t)
		w2 := newWorld(t)
		if _, err := w2.getter(t).Get(t.Context(), want(linux)); err != nil {
			t.Fatal(err)
		}
		w2.source.requests()
		for _, run := range []struct {
			name  string
			world *world
			asked []string
		}{{"cold", w, test.cold}, {"warm", w2, test.warm}} {
			w, ask := run.world, want(linux)
			if test.locked != nil {
				ask.Locked = test.locked(w)
			}
			label := name + ", " + run.name
			got, err := w.getter(t).Get(t.Context(), ask)
			if diff := cmp.Diff(run.asked, w.source.requests()); diff != "" {
				t.Errorf("%s: requests (-want +got):\n%s", label, diff)
			}
			if test.refused {
				mismatch, ok := errors.AsType[*getproviders.MismatchError](err)
				if !ok || !mismatch.Locked || mismatch.Location != "memory:linux_amd64" || len(mismatch.Want) != 1 {
					t.Errorf("%s: %v, want a *MismatchError", label, err)
				}
				if kept := w.packages(t); run.name == "cold" && kept != 0 {
					t.Errorf("%s: %d packages are kept", label, kept)
				}
				continue
			}
			matched := hashing.Hash("")
			if test.matched != nil {
				matched = test.matched(w)
			}
			if err != nil || got.Matched != matched || got.Asked != (run.asked != nil) {
				t.Errorf("%s: %+v, %v", label, got, err)
				continue
			}
			w.checkGot(t, label, got)
		}
	}
}

// checkGot checks a package for linux. If there were requests to the source, the hashes for
// other platforms must be known too.
func (w *world) checkGot(t testing.TB, label string, got *providerfetch.Got) {
	t.Helper()
	hashes := []hashing.Hash{w.h1[linux]}
	if got.Asked {
		zhs := []hashing.Hash{w.zh[linux], w.zh[mac]}
		slices.Sort(zhs)
		hashes = append(hashes, zhs...)
	}
	if got.H1 != w.h1[linux] || got.Archive != w.zh[linux] || got.Authentication.Evidence.Kind != evidence.Signature {
		t.Errorf("%s: %+v", label, got)
	}
	if diff := cmp.Diff(hashes, got.Hashes); diff != "" {
		t.Errorf("%s: hashes (-want +got):\n%s", label, diff)
	}
	if h1, err := hashing.Dir(t.Context(), got.Package.Dir()); h1 != w.h1[linux] {
		t.Errorf("%s: the package has %s, %v", label, h1, err)
	}
}

// If a package is not proven, its archive is downloaded at most, but not read, and nothing is kept or recorded.
func TestGetFails(t *testing.T) {
	t.Parallel()
	refused := errors.New("not signed")
	for name, test := range map[string]struct {
		change func(w *world, g *providerfetch.Getter)
		want   error
	}{
		"offline":                     {func(_ *world, g *providerfetch.Getter) { g.Offline = true }, providerfetch.ErrNotAtHand},
		"no package":                  {func(w *world, _ *providerfetch.Getter) { clear(w.source.archives) }, getproviders.ErrUnsupportedPlatform},
		"not proven":                  {func(w *world, _ *providerfetch.Getter) { w.source.fail = refused }, refused},
		"not proven, while it is got": {func(w *world, _ *providerfetch.Getter) { w.source.fail, w.source.hang = refused, make(chan struct{}) }, refused},
	} {
		w := newWorld(t)
		g := w.getter(t)
		test.change(w, g)
		g.OnEvent = func(e event.Event) {
			if p, ok := e.(event.ProviderProgress); ok && p.Unpacking {
				t.Errorf("%s: an archive is read that is not proven", name)
			}
		}
		if got, err := g.Get(t.Context(), want(linux)); !errors.Is(err, test.want) {
			t.Errorf("%s: Get = %v, %v; want %v", name, got, err, test.want)
		}
		test.change(w, g)
		if got, err := g.Hashes(t.Context(), want(mac)); !errors.Is(err, test.want) {
			t.Errorf("%s: Hashes = %v, %v; want %v", name, got, err, test.want)
		}
		if g.Store.UnpacksTo(w.zh[linux]) != "" || g.Store.UnpacksTo(w.zh[mac]) != "" {
			t.Errorf("%s: the content of an archive is recorded", name)
		}
		if kept := w.packages(t); kept != 0 {
			t.Errorf("%s: %d packages are kept", name, kept)
		}
		stages, err := filepath.Glob(filepath.Join(w.cache, "provider", "stage", "*", "*"))
		if err != nil || len(stages) != 0 {
			t.Errorf("%s: the stage has %v, %v", name, stages, err)
		}
	}
	hostile := newWorld(t)
	hostile.source.archives[linux] = zipOf(t, map[string]string{"terraform-provider-cloud": "", "../x": ""})
	_, err := hostile.getter(t).Get(t.Context(), want(linux))
	if _, ok := errors.AsType[*providerzip.RefusedError](err); !ok {
		t.Errorf("a hostile archive: %v", err)
	}
}

// The package must match one of the hashes that a mirror lists, and those that it matches are recorded.
func TestGetAnnounced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h1, zh := w.h1[linux], w.zh[linux]
	for name, test := range map[string]struct {
		listed, want []hashing.Hash // want is nil for a mismatch
	}{
		"nothing is listed":        {nil, []hashing.Hash{h1}},
		"own zh":                   {[]hashing.Hash{zh}, []hashing.Hash{h1, zh}},
		"those of other platforms": {[]hashing.Hash{otherZH, zh}, []hashing.Hash{h1, zh}},
		"own h1":                   {[]hashing.Hash{h1}, []hashing.Hash{h1}},
		"another h1":               {[]hashing.Hash{otherH1}, nil},
		"another h1 and own zh":    {[]hashing.Hash{otherH1, zh}, []hashing.Hash{h1, zh}},
	} {
		w := newWorld(t)
		w.source.hidden, w.source.announced = true, test.listed
		for range 2 { // the second time, the content of the archive is known
			got, err := w.getter(t).Get(t.Context(), want(linux))
			if _, isMismatch := errors.AsType[*getproviders.MismatchError](err); isMismatch != (test.want == nil) || !isMismatch && err != nil {
				t.Errorf("%s: %v, want a mismatch %v", name, err, test.want == nil)
			}
			if err == nil && (!slices.Equal(got.Hashes, test.want) || got.H1 != h1 || got.Archive != zh) {
				t.Errorf("%s: Get = %+v, want the hashes %q", name, got.Proof, test.want)
			}
		}
	}
}

// If eight processes with one store need the same package at the same time, it is downloaded once.
func TestGetAtOnce(t *testing.T) {
	t.Parallel()
	const processes = 8
	w := newWorld(t)
	w.source.all = new(sync.WaitGroup)
	w.source.all.Add(processes)
	var wait sync.WaitGroup
	for range processes {
		g := w.getter(t)
		wait.Go(func() {
			if got, err := g.Get(t.Context(), want(linux)); err != nil || got.H1 != w.h1[linux] {
				t.Errorf("Get = %+v, %v", got, err)
			}
		})
	}
	wait.Wait()
	if asked := w.source.requests(); len(asked) != 2*processes+1 {
		t.Errorf("asked for %q, want one download", asked)
	}
}

// A directory of a mirror is used in place if the lock allows it.
func TestGetDir(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.source.dir = t.TempDir()
	testenv.Must(t, os.WriteFile(filepath.Join(w.source.dir, "terraform-provider-cloud"), []byte("x"), 0o755))
	h1, err := hashing.Dir(t.Context(), w.source.dir)
	testenv.Must(t, err)
	got, err := w.getter(t).Get(t.Context(), want(linux, h1))
	if err != nil || got.H1 != h1 || got.Matched != h1 || got.Package.Dir() != w.source.dir || got.Archive != "" {
		t.Errorf("Get = %+v, %v", got, err)
	}
	_, err = w.getter(t).Get(t.Context(), want(linux, w.zh[linux]))
	if _, ok := errors.AsType[*getproviders.MismatchError](err); !ok {
		t.Errorf("with another lock Get = %v", err)
	}
	if p, err := w.getter(t).Hashes(t.Context(), want(linux)); err != nil || p.H1 != h1 {
		t.Errorf("Hashes = %+v, %v", p, err)
	}
	// What this machine could not run is refused before it is installed.
	testenv.Must(t, os.Chmod(filepath.Join(w.source.dir, "terraform-provider-cloud"), 0o644))
	for platform, refused := range map[addrs.Platform]bool{addrs.CurrentPlatform(): runtime.GOOS != "windows", {OS: "plan9", Arch: "arm"}: false} {
		if _, err := w.getter(t).Get(t.Context(), want(platform, h1)); (err != nil) != refused || refused && !strings.HasSuffix(err.Error(), "is not executable") {
			t.Errorf("Get for %s of a program that is not executable = %v, want refused: %t", platform, err, refused)
		}
	}
}

// A damaged package is fetched again, and an event reports it.
func TestGetDamaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got, err := w.getter(t).Get(t.Context(), want(linux))
	testenv.Must(t, err)
	file := filepath.Join(got.Package.Dir(), "LICENSE")
	testenv.Must(t, errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, []byte("paid"), 0o600)))
	g := w.getter(t)
	var damaged atomic.Int32
	g.OnEvent = func(e event.Event) {
		if w, ok := e.(event.Warning); ok && strings.HasSuffix(w.Message, "in the cache was damaged, and is fetched again") {
			damaged.Add(1)
		}
	}
	again, err := g.Get(t.Context(), want(linux, w.h1[linux]))
	if err != nil || damaged.Load() != 1 {
		t.Fatalf("Get = %v, %v; %d times told", again, err, damaged.Load())
	}
	if h1, err := hashing.Dir(t.Context(), again.Package.Dir()); err != nil || h1 != w.h1[linux] {
		t.Errorf("after that the store has %s, %v", h1, err)
	}
}

// TestHashes has the ways to get the hashes for another platform, cheapest first.
func TestHashes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before func(t *testing.T, w *world)
		locked func(w *world) []hashing.Hash
		asked  []string
		err    bool
	}{
		"nothing is known":       {nil, nil, fetches, false},
		"the source reports it":  {func(_ *testing.T, w *world) { w.source.reported = w.h1 }, nil, asks, false},
		"the archive was hashed": {hashedBefore, nil, asks, false},
		"and its h1 is locked":   {hashedBefore, func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[mac]} }, nil, false},
		"and its zh is locked":   {hashedBefore, func(w *world) []hashing.Hash { return []hashing.Hash{otherZH, w.zh[mac]} }, nil, false},
		"locked for another platform only": {
			nil, func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[linux], w.zh[linux]} },
			fetches, false,
		},
		"locked by an h1 alone": {nil, func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[linux]} }, fetches, false},
		"a mirror, which knows only its own package": {
			func(_ *testing.T, w *world) { w.source.hidden = true },
			func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[linux], w.zh[linux]} },
			fetches, false,
		},
		"a mirror, after a registry has signed all": {
			func(_ *testing.T, w *world) { w.source.hidden = true },
			func(w *world) []hashing.Hash { return []hashing.Hash{w.h1[linux], w.zh[linux], otherZH} },
			fetches, true,
		},
		"published again": {
			func(t *testing.T, w *world) { w.publish(t, mac, "another provider") },
			func(w *world) []hashing.Hash { return []hashing.Hash{w.zh[linux], otherZH} },
			fetches, true,
		},
		"published again, known before": {
			func(t *testing.T, w *world) {
				hashedBefore(t, w)
				w.publish(t, mac, "another provider")
			},
			func(w *world) []hashing.Hash { return []hashing.Hash{w.zh[linux], otherZH} },
			fetches, true,
		},
	} {
		w := newWorld(t)
		if test.before != nil {
			test.before(t, w)
		}
		ask := want(mac)
		if test.locked != nil {
			ask.Locked = test.locked(w)
		}
		got, err := w.getter(t).Hashes(t.Context(), ask)
		if diff := cmp.Diff(test.asked, w.source.requests()); diff != "" {
			t.Errorf("%s: requests (-want +got):\n%s", name, diff)
		}
		if w.packages(t) != 0 {
			t.Errorf("%s: the package is kept", name)
		}
		if _, isMismatch := errors.AsType[*getproviders.MismatchError](err); test.err {
			if !isMismatch {
				t.Errorf("%s: %v, want a *MismatchError", name, err)
			}
			continue
		}
		if err != nil || got.H1 != w.h1[mac] || got.Archive != w.zh[mac] || got.Hashes[0] != w.h1[mac] {
			t.Errorf("%s: Hashes = %+v, %v", name, got, err)
		}
	}
}

func hashedBefore(t *testing.T, w *world) {
	t.Helper()
	if _, err := w.getter(t).Hashes(t.Context(), want(mac)); err != nil {
		t.Fatal(err)
	}
	w.source.requests()
}

// Everything works without a cache, and no files are left.
func TestNoCache(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cache = ""
	g := w.getter(t)
	got, err := g.Get(t.Context(), want(linux))
	if err != nil || got.H1 != w.h1[linux] {
		t.Fatalf("Get = %+v, %v", got, err)
	}
	if p, err := g.Hashes(t.Context(), want(mac)); err != nil || p.H1 != w.h1[mac] {
		t.Errorf("Hashes = %+v, %v", p, err)
	}
	dir, err := g.Store.Dir(filepath.Join(t.TempDir(), "providers"))
	testenv.Must(t, err)
	defer dir.Close()
	at := store.ProviderPath(example, v100, linux)
	if _, err := dir.Install(t.Context(), got.Package, at, store.LayoutLink); err != nil {
		t.Fatal(err)
	}
	if err := g.Store.Close(); err != nil {
		t.Error(err)
	}
	if state := dir.Inspect(t.Context(), at, true); state.Err != nil || state.H1 != w.h1[linux] {
		t.Errorf("Inspect = %+v", state)
	}
}
