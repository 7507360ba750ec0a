package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/store"
)

func placeIn(t testing.TB, s *store.Providers, project string, pkg *store.ProviderPackage, layout store.Layout) {
	t.Helper()
	d, err := s.Dir(filepath.Join(project, "providers"))
	must(t, err)
	defer d.Close()
	d.RecordInstall(project, map[string]hashing.Hash{at: pkg.H1})
	_, err = d.Install(t.Context(), pkg, at, layout)
	must(t, err)
}

func remove(t testing.TB, s *store.Providers, cache string) bool {
	t.Helper()
	entries, err := providerEntries(t, cache)
	must(t, err)
	if len(entries) != 1 {
		t.Fatalf("the store has %d packages", len(entries))
	}
	links, err := s.Links(t.Context())
	must(t, err)
	removed, err := s.RemoveUnlinked(t.Context(), entries[0].Name, links)
	must(t, err)
	must(t, s.ForgetProjects(links))
	return removed
}

// Only a link that still exists, in a project that this user has installed, keeps a package.
func TestRemoveUnlinked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("packages are copied")
	}
	t.Parallel()
	for name, test := range map[string]struct {
		layout store.Layout
		change func(t *testing.T, cache, project string)
		secret string
		kept   bool
	}{
		"a link":              {kept: true},
		"a copy":              {layout: store.LayoutCopy},
		"another user":        {secret: secret + "!"},
		"the project is gone": {change: func(t *testing.T, _, project string) { must(t, os.RemoveAll(project)) }},
		"the link is gone":    {change: func(t *testing.T, _, project string) { must(t, os.Remove(filepath.Join(project, "providers", at))) }},
		"a link to elsewhere": {change: func(t *testing.T, cache, project string) {
			link := filepath.Join(project, "providers", at)
			target, err := os.Readlink(link)
			must(t, err)
			must(t, os.Remove(link))
			must(t, os.Symlink(filepath.Join(t.TempDir(), filepath.Base(target)), link))
		}},
		"the project is a file": {change: func(t *testing.T, _, project string) {
			must(t, os.RemoveAll(project))
			must(t, os.WriteFile(project, nil, 0o600))
		}},
		"a changed record": {change: func(t *testing.T, cache, _ string) {
			for _, name := range records(t, cache) {
				text, err := os.ReadFile(name)
				must(t, err)
				must(t, os.WriteFile(name, []byte(strings.ReplaceAll(string(text), "providers", "provideRs")), 0o600))
			}
		}},
		"a record under another name": {change: func(t *testing.T, cache, _ string) {
			for _, name := range records(t, cache) {
				must(t, os.Rename(name, filepath.Join(filepath.Dir(name), strings.Repeat("0", 64))))
			}
		}},
		"a moved cache that is reached by its old path": {kept: true, change: func(t *testing.T, cache, _ string) {
			must(t, os.Rename(cache, cache+"-moved"))
			must(t, os.Symlink(cache+"-moved", cache))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			cache, project := filepath.Join(base, "cache"), filepath.Join(t.TempDir(), "project")
			s := openProviders(t, cache)
			placeIn(t, s, project, publishProvider(t, s), test.layout)
			must(t, s.Close())
			if test.change != nil {
				test.change(t, cache, project)
			}
			key := secret
			if test.secret != "" {
				key = test.secret
			}
			if removed := remove(t, openProvidersAs(t, cache, key), cache); removed == test.kept {
				t.Errorf("removed: %v, want %v", removed, !test.kept)
			}
		})
	}
}

func records(t testing.TB, cache string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(cache, "provider", "project", "*"))
	must(t, err)
	if len(found) == 0 {
		t.Fatal("there is no record")
	}
	return found
}

// An installation that ends after a process has looked for links, and before that process removes
// the package, is noticed.
func TestRemoveUnlinkedBesideInstallation(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("packages are copied")
	}
	t.Parallel()
	cache, project := t.TempDir(), filepath.Join(t.TempDir(), "project")
	s := openProviders(t, cache)
	pkg := publishProvider(t, s)
	cleaner := openProviders(t, cache)
	links, err := cleaner.Links(t.Context())
	must(t, err)
	entries, err := providerEntries(t, cache)
	must(t, err)
	if removed, err := cleaner.RemoveUnlinked(t.Context(), entries[0].Name, links); removed || err != nil {
		t.Errorf("RemoveUnlinked of a package in use = %v, %v", removed, err)
	}
	placeIn(t, s, project, pkg, store.LayoutLink)
	must(t, s.Close())
	if removed, err := cleaner.RemoveUnlinked(t.Context(), entries[0].Name, links); removed || err != nil {
		t.Errorf("RemoveUnlinked of a linked package = %v, %v", removed, err)
	}
	want := []store.Project{{Dir: project, Providers: 1, Bytes: entries[0].Bytes}}
	if got, _, err := (store.Cache{Dir: cache, StateKey: secret}).Projects(t.Context(), 0); err != nil || !cmp.Equal(got, want) {
		t.Errorf("Projects = %+v, %v; want %+v", got, err, want)
	}
}

// A record says which packages this user has placed. Cleaning removes only records that say
// nothing.
func TestRemember(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("packages are copied")
	}
	t.Parallel()
	cache, project := t.TempDir(), filepath.Join(t.TempDir(), "project")
	s := openProviders(t, cache)
	pkg := publishProvider(t, s)
	placeIn(t, s, project, pkg, store.LayoutLink)
	remembered := func(s *store.Providers) *store.InstallRecord {
		d, err := s.ViewDir(filepath.Join(project, "providers"))
		must(t, err)
		defer d.Close()
		return d.InstallRecord()
	}
	got := remembered(openProviders(t, cache))
	if !got.Has(at, pkg.H1) || !cmp.Equal(got.Last, []string{at}) {
		t.Errorf("Remembered = %+v", got)
	}
	if got.Has(at, "") || got.Has("other/place", pkg.H1) {
		t.Errorf("what was never placed is remembered: %+v", got)
	}
	if other := remembered(openProvidersAs(t, cache, secret+"!")); other.Has(at, pkg.H1) {
		t.Error("the record of another user counts")
	}
	must(t, s.Close())
	remove(t, openProviders(t, cache), cache)
	records(t, cache)
	must(t, os.RemoveAll(project))
	remove(t, openProviders(t, cache), cache)
	if found, err := os.ReadDir(filepath.Join(cache, "provider", "project")); err != nil || len(found) > 0 {
		t.Errorf("after the project is gone: %v, %v", found, err)
	}
	if _, err := os.Lstat(filepath.Join(cache, "provider")); errors.Is(err, fs.ErrNotExist) {
		t.Error("the store is gone")
	}
}
