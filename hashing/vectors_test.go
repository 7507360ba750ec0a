package hashing_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
)

// vector is one tree in conformance/testdata/trees, whose README describes the format.
type vector struct {
	name   string
	tree   fstest.MapFS
	h1, t1 hashing.Hash
	linux  bool // other systems' file systems cannot store these names together
	odd    bool // package io/fs has no such names
}

// fits reports whether this system's file systems can store the tree. Those of Windows have no
// execute bits.
func (v *vector) fits() bool {
	return runtime.GOOS == "linux" || !v.linux && runtime.GOOS != "windows"
}

func readVectors(t testing.TB) []vector {
	t.Helper()
	files, err := filepath.Glob("../conformance/testdata/trees/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v, %v", files, err)
	}
	var vectors []vector
	for _, path := range files {
		archive, err := txtar.ParseFile(path)
		testenv.Must(t, err)
		v := vector{name: filepath.Base(path), tree: fstest.MapFS{}}
		for _, f := range archive.Files {
			v.tree[f.Name] = file(string(f.Data))
		}
		for line := range strings.Lines(string(archive.Comment)) {
			v.directive(t, strings.TrimSpace(line))
		}
		vectors = append(vectors, v)
	}
	return vectors
}

func (v *vector) directive(t testing.TB, line string) {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	switch name {
	case "h1":
		v.h1 = hashing.Hash(line)
	case "t1":
		v.t1 = hashing.Hash(line)
	case "linux":
		v.linux = true
	case "name":
		was, quoted, _ := strings.Cut(value, " = ")
		name, err := strconv.Unquote(quoted)
		testenv.Must(t, err)
		v.tree[name], v.odd = v.tree[was], v.odd || !utf8.ValidString(name)
		delete(v.tree, was)
	case "exec":
		v.tree[value].Mode = 0o755
	case "dir":
		v.tree[value] = emptyDir()
	case "link":
		path, target, _ := strings.Cut(value, " -> ")
		v.tree[path] = link(target)
	}
}

func TestVectors(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t) {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			var tree *hashing.Tree
			if !v.odd {
				tree = readTree(t, v.tree)
				v.compare(t, "fstest.MapFS", tree)
			} else if v.fits() {
				tree = readDisk(t, onDisk(t, v.tree))
			} else {
				return
			}
			text, err := tree.MarshalText()
			testenv.Must(t, err)
			again, err := hashing.ParseTree(text)
			testenv.Must(t, err)
			v.compare(t, "ParseTree", again)
			if diff := cmp.Diff(tree, again); diff != "" {
				t.Errorf("ParseTree (-want +got):\n%s", diff)
			}
			if got, err := hashing.FS(v.tree); !v.odd && (err != nil || got != v.h1) {
				t.Errorf("FS = %v, %v, want %v", got, err, v.h1)
			}
			if !v.fits() {
				return
			}
			dir := onDisk(t, v.tree)
			if !v.odd {
				v.compare(t, "os.DirFS", readTree(t, os.DirFS(dir)))
			}
			v.compare(t, "os.Root", readDisk(t, dir))
			if got, err := hashing.Dir(t.Context(), dir); err != nil || got != v.h1 {
				t.Errorf("Dir = %v, %v, want %v", got, err, v.h1)
			}
		})
	}
}

func (v *vector) compare(t *testing.T, kind string, tree *hashing.Tree) {
	t.Helper()
	if tree.H1() != v.h1 || tree.T1() != v.t1 {
		t.Errorf("%s: hashes\n%s\n%s\nwant\n%s\n%s\nof %q", kind, tree.H1(), tree.T1(), v.h1, v.t1, paths(tree))
	}
}

// TestSecondImplementation compares the vectors with the results of a Python script for the same
// trees.
func TestSecondImplementation(t *testing.T) {
	t.Parallel()
	python := testenv.Program(t, "python3")
	args := []string{"../conformance/testdata/trees/treehash.py"}
	var want []string
	for _, v := range readVectors(t) {
		if !v.fits() {
			continue
		}
		args = append(args, onDisk(t, v.tree))
		want = append(want, string(v.h1+" "+v.t1))
	}
	var stderr bytes.Buffer
	command := exec.Command(python, args...)
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(string(out)), "\n")); diff != "" {
		t.Errorf("hashes of the script differ (-want +got):\n%s", diff)
	}
}

func link(target string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
}

func file(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(content)} }

func executable(content string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(content), Mode: 0o755}
}

func emptyDir() *fstest.MapFile { return &fstest.MapFile{Mode: fs.ModeDir | 0o755} }

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
		testenv.Must(t, os.MkdirAll(dir, 0o755))
		testenv.Must(t, write())
	}
	return top
}

func readTree(t testing.TB, fsys fs.FS) *hashing.Tree {
	t.Helper()
	tree, err := hashing.ReadTree(t.Context(), fsys)
	testenv.Must(t, err)
	return tree
}

func readDisk(t testing.TB, dir string) *hashing.Tree {
	t.Helper()
	return readTree(t, hashing.RootFS(openRoot(t, dir)))
}

func paths(tree *hashing.Tree) []string {
	var lines []string
	for _, e := range tree.Entries {
		lines = append(lines, strings.TrimSpace(e.Kind.String()+" "+e.Path+" "+e.Target))
	}
	return lines
}

func TestMain(m *testing.M) { os.Exit(testenv.Prepare(m).Run()) }
