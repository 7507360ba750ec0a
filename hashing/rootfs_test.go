package hashing_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
)

// mixedTree returns a tree of links, files and directories in different orders and at different
// depths.
func mixedTree() fstest.MapFS {
	tree := fstest.MapFS{"f": file("top"), "empty": emptyDir(), "deep/empty": emptyDir()}
	for i := range 20 {
		tree[fmt.Sprintf("m/d%02d/main.tf", i)] = file(fmt.Sprint(i))
		tree[fmt.Sprintf("m/d%02d-link", i)] = link(fmt.Sprintf("d%02d", i))
		tree[fmt.Sprintf("m/l%02d", i)] = link("../f")
		tree[fmt.Sprintf("m/l%02d-run", i/3)] = executable("run")
		tree["deep"+strings.Repeat("/d", i)+"/x"] = file("x")
	}
	return tree
}

func openRoot(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// TestRootFSIsAFileSystem runs the standard library's tests for file systems.
func TestRootFSIsAFileSystem(t *testing.T) {
	t.Parallel()
	fsys := hashing.RootFS(openRoot(t, onDisk(t, mixedTree())))
	if err := fstest.TestFS(fsys, "f", "m/d07/main.tf", "m/l07", "deep/d/d/x"); err != nil {
		t.Error(err)
	}
}

// TestRootFSReadsTheSame compares RootFS with a file system that opens everything by its path.
func TestRootFSReadsTheSame(t *testing.T) {
	t.Parallel()
	root := openRoot(t, onDisk(t, mixedTree()))
	if diff := cmp.Diff(readTree(t, root.FS()), readTree(t, hashing.RootFS(root))); diff != "" {
		t.Errorf("entries (-by path +by directory):\n%s", diff)
	}
}

// TestRootFSKeepsToItsDirectory checks that a link that points out of the directory is not
// followed.
func TestRootFSKeepsToItsDirectory(t *testing.T) {
	t.Parallel()
	outside := onDisk(t, fstest.MapFS{"main.tf": file("secret")})
	dir := onDisk(t, fstest.MapFS{"a": link("b"), "b": file("x")})
	if err := os.Symlink(outside, filepath.Join(dir, "c")); err != nil {
		t.Fatal(err)
	}
	root := openRoot(t, dir)
	var refused *hashing.TreeError
	if _, err := hashing.ReadTree(t.Context(), hashing.RootFS(root)); !errors.As(err, &refused) || refused.Path != "c" {
		t.Errorf("error is %v, want a *TreeError of c", err)
	}
	if _, err := hashing.RootFS(root).Open("c/main.tf"); err == nil {
		t.Error("a file outside is opened")
	}
}
