package hashing_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/hashing"
)

// vector is one tree in conformance/testdata/trees, whose README describes the format.
type vector struct {
	name   string
	tree   fstest.MapFS
	h1, t1 hashing.Hash
	linux  bool // other systems' file systems cannot store these names together
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
		if err != nil {
			t.Fatal(err)
		}
		v := vector{name: filepath.Base(path), tree: fstest.MapFS{}}
		for _, f := range archive.Files {
			v.tree[f.Name] = file(string(f.Data))
		}
		for line := range strings.Lines(string(archive.Comment)) {
			v.directive(strings.TrimSpace(line))
		}
		vectors = append(vectors, v)
	}
	return vectors
}

func (v *vector) directive(line string) {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	switch name {
	case "h1":
		v.h1 = hashing.Hash(line)
	case "t1":
		v.t1 = hashing.Hash(line)
	case "linux":
		v.linux = true
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
			v.compare(t, "fstest.MapFS", readTree(t, v.tree))
			if got, err := hashing.FS(v.tree); err != nil || got != v.h1 {
				t.Errorf("FS = %v, %v, want %v", got, err, v.h1)
			}
			if !v.fits() {
				return
			}
			dir := onDisk(t, v.tree)
			v.compare(t, "os.DirFS", readTree(t, os.DirFS(dir)))
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
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
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
