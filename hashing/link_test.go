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
	"github.com/cotterpin/cotter/internal/testenv"
)

// linkTree returns a tree to which tests add a link named "self".
func linkTree() fstest.MapFS {
	return fstest.MapFS{
		"f": file("1"), "d/f": file("2"), "d/e/f": file("3"), "void": emptyDir(),
		"to-f": link("f"), "to-d": link("d"), "d/up": link(".."), ".git/config": file("4"),
	}
}

func TestLinksToFiles(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"f": "f", "./f": "f", "d/f": "d/f", "d/../f": "f", "d//f": "d/f", "to-f": "f", "to-d/f": "d/f",
		"to-d/e/f": "d/e/f", "d/up/f": "f", "to-d/up/to-d/up/f": "f", "d/up/d/e/../f": "d/f", "void/../f": "f",
	} {
		fsys := linkTree()
		fsys["self"] = link(target)
		sums := make(map[string][32]byte)
		for _, e := range readDisk(t, onDisk(t, fsys)).Entries {
			sums[e.Path] = e.Sum
		}
		if sums["self"] != sums[want] {
			t.Errorf("a link to %q has the sum %x, want that of %q", target, sums["self"], want)
		}
	}
}

func TestLinksToDirectories(t *testing.T) {
	t.Parallel()
	without, err := hashing.FS(linkTree())
	testenv.Must(t, err)
	for _, target := range []string{"d", "d/", "./d", "to-d", "to-d/e", ".", "./", "d/up", "void", "void/", "d/up/."} {
		fsys := linkTree()
		fsys["self"] = link(target)
		tree := readDisk(t, onDisk(t, fsys))
		if tree.H1() != without {
			t.Errorf("a link to %q changes h1", target)
		}
		if tree.T1() == readTree(t, linkTree()).T1() {
			t.Errorf("a link to %q does not change t1", target)
		}
	}
}

func TestBadLinks(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret")
	testenv.Must(t, os.WriteFile(outside, []byte("s"), 0o600))
	for target, want := range map[string]string{
		"..": "out of the package", "../x": "out of the package", "d/../..": "out of the package", "to-d/../../x": "out of the package",
		"d/up/..": "out of the package", "/": "absolute", "/dev/zero": "absolute", outside: "absolute",
		"nothing": "to nothing", "d/nothing": "to nothing", "nothing/../f": "to nothing", ".git/config": "to nothing", "F": "to nothing",
		"f/": "through a file", "f/.": "through a file", "f/..": "through a file", "to-f/x": "through a file",
		"self": "in a circle", "./self": "in a circle", "self/x": "in a circle", "d/up/self": "in a circle",
		"a\nb": "newline", strings.Repeat("./", 2048) + "f": "longer than",
	} {
		fsys := linkTree()
		fsys["self"] = link(target)
		_, err := hashing.ReadTree(t.Context(), fsys)
		var refused *hashing.TreeError
		if !errors.As(err, &refused) || refused.Path != "self" || !strings.Contains(err.Error(), want) {
			t.Errorf("a link to %.40q: error %v, want one about %q", target, err, want)
		}
	}
}

// TestLinkChains checks that the limit is the same whether the first or the last link of a chain
// is sorted first.
func TestLinkChains(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		links int
		ok    bool
	}{{1, true}, {39, true}, {40, true}, {41, false}, {10_000, false}} {
		up, down := fstest.MapFS{"x": file("")}, fstest.MapFS{"x": file("")}
		target := "x"
		for i := range test.links {
			name := fmt.Sprintf("l%06d", i)
			up[name] = link(target)
			target = name
		}
		target = "x"
		for i := range test.links {
			name := fmt.Sprintf("l%06d", test.links-i)
			down[name] = link(target)
			target = name
		}
		for direction, fsys := range map[string]fstest.MapFS{"up": up, "down": down} {
			if _, err := hashing.ReadTree(t.Context(), fsys); (err == nil) != test.ok {
				t.Errorf("%d links %s: error %v, want success %v", test.links, direction, err, test.ok)
			}
		}
	}
}

// TestLinkBomb has links that each double the length of the resolved target.
func TestLinkBomb(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{"d/f": file(""), "l00": link("d/..")}
	for i := 1; i < 30; i++ {
		previous := fmt.Sprintf("l%02d", i-1)
		fsys[fmt.Sprintf("l%02d", i)] = link(previous + "/" + previous)
	}
	if _, err := hashing.ReadTree(t.Context(), fsys); err == nil || !strings.Contains(err.Error(), "too many links") {
		t.Errorf("ReadTree: error %v, want one about too many links", err)
	}
}

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

func openRoot(t testing.TB, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	testenv.Must(t, err)
	t.Cleanup(func() { root.Close() })
	return root
}

func TestRootFS(t *testing.T) {
	t.Parallel()
	dir := onDisk(t, mixedTree())
	root := openRoot(t, dir)
	fsys := hashing.RootFS(root)
	if err := fstest.TestFS(fsys, "f", "m/d07/main.tf", "m/l07", "deep/d/d/x"); err != nil {
		t.Error(err)
	}
	// root.FS opens everything by its path.
	if diff := cmp.Diff(readTree(t, root.FS()), readTree(t, fsys)); diff != "" {
		t.Errorf("entries (-by path +by directory):\n%s", diff)
	}
	outside := onDisk(t, fstest.MapFS{"main.tf": file("secret")})
	testenv.Must(t, os.Symlink(outside, filepath.Join(dir, "outside")))
	var refused *hashing.TreeError
	if _, err := hashing.Dir(t.Context(), dir); !errors.As(err, &refused) || refused.Path != "outside" {
		t.Errorf("Dir = %v, want a *TreeError of the link", err)
	}
	if _, err := fsys.Open("outside/main.tf"); err == nil {
		t.Error("a file outside is opened")
	}
}
