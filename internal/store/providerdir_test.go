package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/store"
)

const at = "example.com/acme/x/1.0.0/linux_amd64"

func project(t testing.TB, s *store.Providers) *store.ProviderDir {
	t.Helper()
	d, err := s.Dir(filepath.Join(t.TempDir(), "providers"))
	must(t, err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
		if _, err := os.Lstat(d.Path(".cotter")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the stage stays: %v", err)
		}
	})
	return d
}

// kind returns the kind of entry at a path: "link to TARGET", "directory", "file" or "nothing".
func kind(t testing.TB, path string) string {
	t.Helper()
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "nothing"
	case err != nil:
		t.Fatal(err)
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := os.Readlink(path)
		must(t, err)
		return "link to " + target
	case info.IsDir():
		return "directory"
	}
	return "file"
}

type placement struct {
	before   func(dir string)
	layout   store.Layout
	replaced bool
	want     string
}

// placements are the cases of TestPlace. pkg is the package, same a directory with the same files, and
// other a directory with other files.
func placements(t *testing.T, pkg, same, other string) map[string]placement {
	t.Helper()
	link := "link to " + pkg
	symlink := func(target, name string) func(string) {
		return func(dir string) {
			path := filepath.Join(dir, name)
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must(t, os.Symlink(target, path))
		}
	}
	return map[string]placement{
		"nothing":                                       {layout: store.LayoutLink, want: link},
		"nothing, for a copy":                           {layout: store.LayoutCopy, want: "directory"},
		"the same link":                                 {before: symlink(pkg, at), layout: store.LayoutLink, want: link},
		"the same link, for a copy":                     {before: symlink(pkg, at), layout: store.LayoutCopy, replaced: true, want: "directory"},
		"nothing, for a tool that writes":               {layout: store.LayoutOwn, want: "directory"},
		"the same link, for a tool that writes":         {before: symlink(pkg, at), layout: store.LayoutOwn, replaced: true, want: "directory"},
		"the package by a link, for a tool that writes": {before: symlink(same, at), layout: store.LayoutOwn, want: "link to " + same},
		"a link to another cache, for a tool that writes": {
			before: func(dir string) {
				elsewhere := filepath.Join(t.TempDir(), filepath.Base(pkg))
				write(t, elsewhere, files)
				symlink(elsewhere, at)(dir)
			},
			layout: store.LayoutOwn, replaced: true, want: "directory",
		},
		"the package, for a tool that writes": {
			before: func(dir string) { write(t, filepath.Join(dir, at), files) }, layout: store.LayoutOwn,
			want: "directory",
		},
		"the package by a link": {
			before: symlink(same, at), layout: store.LayoutLink, want: "link to " + same,
		},
		"the package": {
			before: func(dir string) { write(t, filepath.Join(dir, at), files) }, layout: store.LayoutLink,
			want: "directory",
		},
		"a changed file": {
			before: func(dir string) { write(t, filepath.Join(dir, at), map[string]string{"terraform-provider-x": "x"}) },
			layout: store.LayoutLink, replaced: true, want: link,
		},
		"an additional file": {
			before: func(dir string) {
				write(t, filepath.Join(dir, at), files)
				write(t, filepath.Join(dir, at), map[string]string{"y": "y"})
			},
			layout: store.LayoutCopy, replaced: true, want: "directory",
		},
		"a file that cannot be run": {
			before: func(dir string) {
				write(t, filepath.Join(dir, at), files)
				must(t, os.Chmod(filepath.Join(dir, at, "terraform-provider-x"), 0o644))
			},
			layout: store.LayoutLink, replaced: true, want: link,
		},
		"an empty directory": {
			before: func(dir string) { must(t, os.MkdirAll(filepath.Join(dir, at), 0o755)) }, layout: store.LayoutLink,
			replaced: true, want: link,
		},
		"a file": {
			before: func(dir string) { write(t, dir, map[string]string{at: ""}) }, layout: store.LayoutLink,
			replaced: true, want: link,
		},
		"a file, for a copy": {
			before: func(dir string) { write(t, dir, map[string]string{at: ""}) }, layout: store.LayoutCopy,
			replaced: true, want: "directory",
		},
		"a dangling link":       {before: symlink("/nowhere", at), layout: store.LayoutLink, replaced: true, want: link},
		"another directory":     {before: symlink(other, at), layout: store.LayoutLink, replaced: true, want: link},
		"a version that is one": {before: symlink(other, filepath.Dir(at)), layout: store.LayoutLink, replaced: true, want: link},
		"a host that is one": {
			before: symlink(other, "example.com"), layout: store.LayoutCopy, replaced: true, want: "directory",
		},
		"a type that is a file": {
			before: func(dir string) { write(t, dir, map[string]string{"example.com/acme/x": ""}) },
			layout: store.LayoutLink, replaced: true, want: link,
		},
		"links in a circle": {before: symlink("linux_amd64", at), layout: store.LayoutLink, replaced: true, want: link},
	}
}

// A project gets a copy of a package that another user can change or replace in the store, also in
// place of a link that it has.
func TestPlaceShared(t *testing.T) {
	t.Parallel()
	for name, share := range map[string]struct {
		at   func(cache, pkg string) string
		mode fs.FileMode
		want string
	}{
		"a file":                   {func(_, pkg string) string { return filepath.Join(pkg, "docs/README") }, 0o666, "directory"},
		"the package":              {func(_, pkg string) string { return pkg }, 0o777, "directory"},
		"all packages":             {func(_, pkg string) string { return filepath.Dir(pkg) }, 0o777, "directory"},
		"the cache":                {func(cache, _ string) string { return cache }, 0o777, "directory"},
		"the cache, for the group": {func(cache, _ string) string { return cache }, 0o775, "link"},
	} {
		cache := t.TempDir()
		must(t, os.Chmod(cache, 0o755))
		first := publishProvider(t, openProviders(t, cache))
		old := project(t, openProviders(t, cache))
		if _, err := old.Install(t.Context(), first, at, store.LayoutLink); err != nil {
			t.Fatal(err)
		}
		must(t, os.Chmod(share.at(cache, first.Dir()), share.mode))
		s := openProviders(t, cache)
		found, err := s.Find(t.Context(), first.H1)
		must(t, err)
		for _, pkg := range []*store.ProviderPackage{found, publishProvider(t, s)} {
			for _, d := range []*store.ProviderDir{old, project(t, s)} {
				if _, err := d.Install(t.Context(), pkg, at, store.LayoutLink); err != nil {
					t.Fatal(err)
				}
				if got, _, _ := strings.Cut(kind(t, d.Path(at)), " "); got != share.want {
					t.Errorf("%s: there is a %s, want a %s", name, got, share.want)
				}
			}
		}
	}
}

// TestPlace places a package over different kinds of entries. Whatever exists at the path or
// above it, the package is there afterwards, and the store is unchanged.
func TestPlace(t *testing.T) {
	t.Parallel()
	s := openProviders(t, t.TempDir())
	pkg := publishProvider(t, s)
	other := t.TempDir()
	write(t, other, map[string]string{"terraform-provider-x": "other"})
	same := t.TempDir()
	write(t, same, files)
	for name, test := range placements(t, pkg.Dir(), same, other) {
		d := project(t, s)
		if test.before != nil {
			test.before(d.Path("."))
		}
		replaced, err := d.Install(t.Context(), pkg, at, test.layout)
		if err != nil || replaced != test.replaced {
			t.Errorf("%s: Place = %v, %v; want %v", name, replaced, err, test.replaced)
			continue
		}
		if got := kind(t, d.Path(at)); got != test.want {
			t.Errorf("%s: there is a %s, want %s", name, got, test.want)
		}
		for _, full := range []bool{false, true} {
			if state := d.Inspect(t.Context(), at, full); state.Err != nil || state.H1 != pkg.H1 {
				t.Errorf("%s: Inspect = %+v", name, state)
			}
		}
		if replaced, err := d.Install(t.Context(), pkg, at, test.layout); replaced || err != nil {
			t.Errorf("%s: Place again = %v, %v", name, replaced, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(other, "terraform-provider-x")); string(text) != "other" {
		t.Errorf("another directory has %q, %v", text, err)
	}
	if hash(t, pkg.Dir()) != pkg.H1 {
		t.Error("the store was changed")
	}
}

// A copy can be changed. The change is noticed without reading all files, even if the
// modification times are set back.
func TestInspect(t *testing.T) {
	t.Parallel()
	s := openProviders(t, t.TempDir())
	pkg := publishProvider(t, s)
	d := project(t, s)
	_, err := d.Install(t.Context(), pkg, at, store.LayoutCopy)
	must(t, err)
	executable := filepath.Join(d.Path(at), "terraform-provider-x")
	if info, err := os.Stat(executable); err != nil || info.Mode() != 0o755 {
		t.Errorf("the executable of a copy has mode %v, %v", info.Mode(), err)
	}
	change(t, executable)
	if state := d.Inspect(t.Context(), at, false); state.Err != nil || state.H1 == pkg.H1 || state.H1 != hash(t, d.Path(at)) {
		t.Errorf("after a change Inspect = %+v", state)
	}
	must(t, os.Remove(executable))
	if state := d.Inspect(t.Context(), at, false); state.Err == nil {
		t.Errorf("without an executable Inspect = %+v", state)
	}
	write(t, d.Path(at), map[string]string{".git/config": ""})
	if state := d.Inspect(t.Context(), at, false); state.Err == nil || state.H1 != "" {
		t.Errorf("with a file that no h1 covers Inspect = %+v", state)
	}
	for _, nothing := range []string{"example.com/acme/x/1.0.0/linux_arm64", "example.com/acme/y/1.0.0/linux_amd64"} {
		if state := d.Inspect(t.Context(), nothing, false); !errors.Is(state.Err, fs.ErrNotExist) {
			t.Errorf("%s: Inspect = %+v", nothing, state)
		}
	}
}

// If a package cannot be stored, each project gets a copy of it.
func TestPlaceStaged(t *testing.T) {
	t.Parallel()
	s := openProviders(t, "")
	pkg := publishProvider(t, s)
	for range 3 {
		d := project(t, s)
		if _, err := d.Install(t.Context(), pkg, at, store.LayoutLink); err != nil {
			t.Fatal(err)
		}
		if got := kind(t, d.Path(at)); got != "directory" || hash(t, d.Path(at)) != pkg.H1 {
			t.Errorf("there is a %s", got)
		}
	}
}

// The package in another program's directory is placed as a link to that directory.
func TestPlaceForeign(t *testing.T) {
	t.Parallel()
	s := openProviders(t, t.TempDir())
	mirror := t.TempDir()
	write(t, mirror, files)
	pkg, err := s.Outside(t.Context(), mirror, "")
	must(t, err)
	d := project(t, s)
	_, err = d.Install(t.Context(), pkg, at, store.LayoutLink)
	must(t, err)
	if got := kind(t, d.Path(at)); got != "link to "+mirror {
		t.Errorf("there is a %s", got)
	}
	change(t, filepath.Join(mirror, "terraform-provider-x"))
	if _, err := d.Install(t.Context(), pkg, at, store.LayoutCopy); err == nil {
		t.Error("a directory that has changed is copied")
	}
}

func TestViewDir(t *testing.T) {
	t.Parallel()
	s := openProviders(t, t.TempDir())
	if _, err := s.ViewDir(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ViewDir of nothing = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := project(t, s)
	if _, err := d.Install(ctx, publishProvider(t, s), at, store.LayoutCopy); !errors.Is(err, context.Canceled) {
		t.Errorf("Place with a canceled context = %v", err)
	}
	if got := kind(t, d.Path(at)); got != "nothing" {
		t.Errorf("after that there is a %s", got)
	}
}

func tree(t testing.TB, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if target, err := os.Readlink(path); err == nil {
			name += " -> " + target
		}
		found = append(found, filepath.ToSlash(name))
		return nil
	})
	must(t, err)
	return found
}

// The package of one project is placed in another one as a copy, because a link would break with
// the first project.
func TestPlaceInstalled(t *testing.T) {
	t.Parallel()
	s := openProviders(t, t.TempDir())
	first, second := project(t, s), project(t, s)
	if pkg, err := s.Installed(t.Context(), filepath.Dir(first.Path("x")), at); pkg != nil || err != nil {
		t.Errorf("Installed in an empty project = %v, %v", pkg, err)
	}
	_, err := first.Install(t.Context(), publishProvider(t, s), at, store.LayoutCopy)
	must(t, err)
	pkg, err := s.Installed(t.Context(), filepath.Dir(first.Path("x")), at)
	if pkg == nil || err != nil {
		t.Fatalf("Installed = %v, %v", pkg, err)
	}
	for _, d := range []*store.ProviderDir{first, second} {
		if _, err := d.Install(t.Context(), pkg, at, store.LayoutLink); err != nil || kind(t, d.Path(at)) != "directory" {
			t.Errorf("Place = %v, and there is a %s", err, kind(t, d.Path(at)))
		}
	}
	must(t, os.RemoveAll(first.Path("example.com")))
	if state := second.Inspect(t.Context(), at, true); state.H1 != pkg.H1 {
		t.Errorf("without the first project, the second has %+v", state)
	}
}

// On Windows, a path cannot have the name of a host with a port.
func TestInstallOnWindows(t *testing.T) {
	t.Parallel()
	s := openProviders(t, t.TempDir())
	pkg := publishProvider(t, s)
	s.UseWindowsRules()
	d := project(t, s)
	const port = "example.com:8443/acme/x/1.0.0/linux_amd64"
	_, err := d.Install(t.Context(), pkg, port, store.LayoutCopy)
	var refused *store.PathError
	if !errors.As(err, &refused) || refused.Component != "example.com:8443" {
		t.Errorf("Install = %v, want a *PathError", err)
	}
	if state := d.Inspect(t.Context(), port, false); !errors.As(state.Err, &refused) {
		t.Errorf("Inspect = %v, want a *PathError", state.Err)
	}
	if _, err := d.Install(t.Context(), pkg, at, store.LayoutCopy); err != nil {
		t.Error(err)
	}
}
