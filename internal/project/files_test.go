package project_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/testenv"
)

// linkedPackage makes a package in the layout with links: "own" is private, and everything else is in a shared
// tree. It returns the package's files.
func linkedPackage(t *testing.T, packageLinks map[string]string) *project.Files {
	t.Helper()
	location := newAt(t).location()
	modules, tree := location.Modules(), filepath.Join(location.Modules(), ".cotter/tree/t")
	call := filepath.Join(modules, "m")
	for _, dir := range []string{call, tree} {
		for _, name := range []string{"own/main.tf", "shared/x.tf", "shared/deep/y.tf", "z.tf"} {
			testenv.WriteFile(t, filepath.Join(dir, name), name+" of the "+map[string]string{call: "copy", tree: "tree"}[dir])
		}
		for link, target := range packageLinks {
			testenv.Must(t, os.Symlink(target, filepath.Join(dir, link)))
		}
	}
	for _, name := range []string{"shared", "z.tf"} {
		testenv.Must(t, os.RemoveAll(filepath.Join(call, name)))
		testenv.Must(t, os.Symlink(project.TreeLink("t", name), filepath.Join(call, name)))
	}
	testenv.WriteFile(t, filepath.Join(modules, "other/main.tf"), "another package")
	testenv.WriteFile(t, filepath.Join(modules, "secret"), "not in a package")
	p, err := project.View(location, nil)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p.Files("m")
}

// TestFiles reads a package in the layout with links as the system does, but nothing outside of the package.
func TestFiles(t *testing.T) {
	t.Parallel()
	files := linkedPackage(t, map[string]string{
		"own/link.tf":      "../z.tf",
		"own/through.tf":   "../shared/deep/y.tf",
		"own/chain.tf":     "../shared/chain2.tf",
		"shared/chain2.tf": "chain3.tf", "shared/chain3.tf": "../own/main.tf",
		"own/dir":         "../shared",
		"shared/to_own":   "../own",
		"own/round.tf":    "../shared/to_own/link.tf",
		"own/loop.tf":     "loop.tf",
		"own/missing.tf":  "../shared/missing.tf",
		"own/absolute.tf": "/etc/hostname",
		"own/other.tf":    "../../other/main.tf",
		"own/tree.tf":     "../../.cotter/tree/t/shared/x.tf", // not at the same place
		"own/above.tf":    "../shared/../../secret",
		"own/up.tf":       "../shared/up.tf", "shared/up.tf": "../../../../secret",
	})
	for name, test := range map[string]struct{ text, real string }{
		"own/main.tf":           {"own/main.tf of the copy", "own/main.tf"},
		"z.tf":                  {"z.tf of the tree", "z.tf"},
		"shared/deep/y.tf":      {"shared/deep/y.tf of the tree", "shared/deep/y.tf"},
		"own/link.tf":           {"z.tf of the tree", "z.tf"},
		"own/through.tf":        {"shared/deep/y.tf of the tree", "shared/deep/y.tf"},
		"own/chain.tf":          {"own/main.tf of the tree", "own/main.tf"},
		"own/dir/x.tf":          {"shared/x.tf of the tree", "shared/x.tf"},
		"own/round.tf":          {"z.tf of the tree", "z.tf"},
		"own/loop.tf":           {},
		"own/missing.tf":        {},
		"own/absolute.tf":       {},
		"own/other.tf":          {},
		"own/tree.tf":           {},
		"own/above.tf":          {},
		"own/up.tf":             {},
		"own/none.tf":           {},
		"../other/main.tf":      {},
		"/etc/hostname":         {},
		"own/../z.tf":           {},
		"shared/to_own/main.tf": {"own/main.tf of the tree", "own/main.tf"},
	} {
		for _, held := range []bool{false, true} {
			if held {
				defer files.Hold()()
			}
			want, err := os.ReadFile(filepath.Join(files.Path(), name))
			if test.text != "" && (err != nil || string(want) != test.text) {
				t.Fatalf("%s is %q for the system, %v", name, want, err)
			}
			if text, err := fs.ReadFile(files, name); string(text) != test.text || (err != nil) != (test.text == "") {
				t.Errorf("%s = %q, %v; want %q", name, text, err, test.text)
			}
			if real, err := files.Real(name); real != test.real || (err != nil) != (test.real == "") {
				t.Errorf("Real(%s) = %q, %v; want %q", name, real, err, test.real)
			}
		}
	}
	for dir, want := range map[string]int{".": 3, "own": 13, "shared": 6, "own/dir/deep": 1} {
		if entries, err := fs.ReadDir(files, dir); err != nil || len(entries) != want {
			t.Errorf("%s has %v, %v; want %d entries", dir, entries, err, want)
		}
	}
	if _, err := fs.Stat(project.FilesIn(filepath.Join(files.Path(), "none")), "."); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a package that does not exist: %v", err)
	}
}

// A tree that is a link itself is not followed: a repository can have it.
func TestFilesOfLinkedTree(t *testing.T) {
	t.Parallel()
	files := linkedPackage(t, map[string]string{"own/link.tf": "../z.tf"})
	tree := filepath.Join(filepath.Dir(files.Path()), ".cotter/tree/t")
	elsewhere := filepath.Join(t.TempDir(), "t")
	testenv.Must(t, os.Rename(tree, elsewhere))
	testenv.Must(t, os.Symlink(elsewhere, tree))
	if text, err := fs.ReadFile(files, "own/link.tf"); err == nil {
		t.Errorf("read %q", text)
	}
}
