package hashing_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/hashing"
)

// link returns a link in an in-memory tree.
func link(target string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
}

func file(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(content)} }

func executable(content string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(content), Mode: 0o755}
}

func emptyDir() *fstest.MapFile { return &fstest.MapFile{Mode: fs.ModeDir | 0o755} }

// onDisk writes a tree into a new directory.
func onDisk(t testing.TB, tree fstest.MapFS) string {
	t.Helper()
	top := t.TempDir()
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		f, path := tree[name], filepath.Join(top, filepath.FromSlash(name))
		dir, write := filepath.Dir(path), func() error { return os.WriteFile(path, f.Data, f.Mode.Perm()|0o600) }
		switch f.Mode.Type() {
		case fs.ModeSymlink:
			write = func() error { return os.Symlink(string(f.Data), path) }
		case fs.ModeDir:
			dir, write = path, func() error { return nil }
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func readTree(t testing.TB, fsys fs.FS) *hashing.Tree {
	t.Helper()
	tree, err := hashing.ReadTree(t.Context(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// readDisk reads a directory through os.Root.
func readDisk(t testing.TB, dir string) *hashing.Tree {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return readTree(t, root.FS())
}

// paths returns the entries of a tree, each as "kind path".
func paths(tree *hashing.Tree) []string {
	var lines []string
	for _, e := range tree.Entries {
		lines = append(lines, strings.TrimSpace(e.Kind.String()+" "+e.Path+" "+e.Target))
	}
	return lines
}
