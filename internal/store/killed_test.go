package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/store"
)

// The tests that set the process's hook do not run in parallel with others.

type killed struct{}

// install publishes a package and places it in a new process, which is killed before the step
// with this number. It returns the name of the step, or "" if there are no more steps.
func install(t testing.TB, cache, dir string, layout store.Layout, number int) (name string) {
	t.Helper()
	steps := 0
	atomicfile.SetStepHook(func(s string) error {
		if steps++; steps > number {
			name = s
			panic(killed{})
		}
		return nil
	})
	var s *store.Providers
	var d *store.ProviderDir
	defer func() {
		// When a process is killed, its locks are released and nothing else happens.
		atomicfile.SetStepHook(func(string) error { return errors.New("killed") })
		if d != nil {
			_ = d.Close()
		}
		if s != nil {
			_ = s.Close()
		}
		atomicfile.SetStepHook(nil)
		if recovered := recover(); recovered != nil && recovered != (killed{}) {
			panic(recovered)
		}
	}()
	s = store.OpenProviders(cache, filepath.Join(dir, "scratch"), userKey(t, secret))
	pkg := publishProvider(t, s)
	s.RecordArchive(zh, pkg.H1)
	var err error
	d, err = s.Dir(dir)
	must(t, err)
	_, err = d.Install(t.Context(), pkg, at, layout)
	must(t, err)
	must(t, d.Close())
	must(t, s.Close())
	return ""
}

// TestKilled kills a process before each of its steps. Stock tools then see the previous entry,
// nothing, or the package. The next process completes the work and leaves no other files.
func TestKilled(t *testing.T) {
	partial := map[string]string{"terraform-provider-x": "#!"}
	for _, layout := range []store.Layout{store.LayoutLink, store.LayoutCopy} {
		var want []string
		for number := 0; ; number++ {
			cache, dir := t.TempDir(), t.TempDir()
			write(t, filepath.Join(dir, at), partial)
			name := install(t, cache, dir, layout, number)
			if name != "" {
				if seen := visible(t, dir); seen != "partial" && seen != "nothing" && seen != "package" {
					t.Errorf("killed before %s, stock tools see %s", name, seen)
				}
				install(t, cache, dir, layout, 1<<30)
			}
			if seen := visible(t, dir); seen != "package" {
				t.Errorf("killed before %q, and started again, stock tools see %s", name, seen)
			}
			entries, err := providerEntries(t, cache)
			if err != nil || len(entries) != 1 {
				t.Errorf("killed before %q, and started again, the store has %v, %v", name, entries, err)
			}
			left := tree(t, dir)
			for i := range left {
				left[i] = strings.ReplaceAll(left[i], cache, "CACHE")
			}
			if want == nil {
				want = left
			}
			if diff := cmp.Diff(want, left); diff != "" {
				t.Errorf("killed before %q, and started again, the project has (-want +got):\n%s", name, diff)
			}
			if name == "" {
				break
			}
		}
	}
}

func visible(t testing.TB, dir string) string {
	t.Helper()
	h1, err := hashing.Dir(t.Context(), filepath.Join(dir, at))
	original := t.TempDir()
	write(t, original, files)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "nothing"
	case err != nil:
		return err.Error()
	case h1 == hash(t, original):
		return "package"
	}
	if text, err := os.ReadFile(filepath.Join(dir, at, "terraform-provider-x")); err == nil && string(text) == "#!" {
		return "partial"
	}
	return "a mixture"
}

// Packages in a store on a read-only file system are used and can be placed.
func TestReadOnlyStore(t *testing.T) {
	cache := t.TempDir()
	s := store.OpenProviders(cache, "", userKey(t, secret))
	pkg := publishProvider(t, s)
	s.RecordArchive(zh, pkg.H1)
	must(t, s.Close())
	defer atomicfile.SetStepHook(nil)
	atomicfile.SetStepHook(func(name string) error {
		if strings.HasPrefix(name, "provider.stage.") {
			return syscall.EROFS
		}
		return nil
	})
	readOnly := store.OpenProviders(cache, filepath.Join(t.TempDir(), "scratch"), userKey(t, secret))
	atomicfile.SetStepHook(nil)
	defer readOnly.Close()
	got, err := readOnly.Find(t.Context(), zh)
	if err != nil || got == nil || readOnly.Writable() {
		t.Fatalf("Find = %v, %v; writable %v", got, err, readOnly.Writable())
	}
	d, err := readOnly.Dir(t.TempDir())
	must(t, err)
	defer d.Close()
	if _, err := d.Install(t.Context(), got, at, store.LayoutLink); err != nil {
		t.Error(err)
	}
	if want := "link to " + pkg.Dir(); kind(t, d.Path(at)) != want {
		t.Errorf("there is a %s, want %s", kind(t, d.Path(at)), want)
	}
	change(t, filepath.Join(pkg.Dir(), "terraform-provider-x"))
	if state := d.Inspect(t.Context(), at, false); state.H1 == pkg.H1 {
		t.Errorf("after a change Inspect = %+v", state)
	}
}

// Links point to the store even if its directory was given as a relative path.
func TestRelativeCache(t *testing.T) {
	t.Chdir(t.TempDir())
	if pkg := publishProvider(t, openProviders(t, "cache")); !filepath.IsAbs(pkg.Dir()) {
		t.Errorf("the package is at %s", pkg.Dir())
	}
}
