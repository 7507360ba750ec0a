//go:build unix

package pathsafe_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/testenv"
)

// foreign is the number of a user and of a group that the process does not have.
const foreign = 61001

func TestCheckOwners(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		// make changes a tree that has the directory a/b/c.
		make func(t *testing.T, root *os.Root)
		dir  string // "" means a/b/c
		want string // the exposing paths
		root bool   // only root can make it
	}{
		"own":                      {},
		"missing":                  {dir: "a/b/none/none"},
		"parent for all":           {make: chmod("a", 0o777), want: "a"},
		"parent sticky":            {make: chmod("a", 0o777|os.ModeSticky)},
		"itself sticky":            {make: chmod("a/b/c", 0o777|os.ModeSticky), want: "a/b/c"},
		"missing, parent sticky":   {make: chmod("a/b/c", 0o777|os.ModeSticky), dir: "a/b/c/d"},
		"missing, parent for all":  {make: chmod("a/b/c", 0o777), dir: "a/b/c/d", want: "a/b/c"},
		"two":                      {make: both(chmod("a", 0o777), chmod("a/b/c", 0o757)), want: "a a/b/c"},
		"below a closed directory": {make: both(chmod("a", 0o700), chmod("a/b", 0o777))},
		"above a closed directory": {make: both(chmod("a", 0o777), chmod("a/b", 0o700)), want: "a"},
		"group of others":          {make: both(chgrp("a/b"), chmod("a/b", 0o775)), want: "a/b", root: true},
		"group reads":              {make: both(chgrp("a/b"), chmod("a/b", 0o755)), root: true},
		"owner":                    {make: chown("a/b"), want: "a/b", root: true},
		"owner, closed":            {make: both(chmod("a", 0o700), chown("a/b")), want: "a/b", root: true},
		"link to open":             {make: both(mkdir("x", 0o777), link("../../x", "a/b/l")), dir: "a/b/l/d", want: "x"},
		"link out of closed":       {make: both(mkdir("x", 0o777), chmod("a", 0o700), link("../../x", "a/b/l")), dir: "a/b/l/d", want: "x"},
		"link in open":             {make: both(mkdir("x", 0o777), link("../a", "x/l")), dir: "x/l/b", want: "x"},
		"link in sticky":           {make: both(mkdir("x", 0o777|os.ModeSticky), link("../a", "x/l")), dir: "x/l/b"},
		"foreign link in sticky":   {make: both(mkdir("x", 0o777|os.ModeSticky), link("../a", "x/l"), lchown("x/l")), dir: "x/l/b", want: "x/l", root: true},
		"parent of a link":         {make: both(mkdir("x", 0o755), link("../x/../a/b", "a/l"), chmod("a", 0o707)), dir: "a/l/c", want: "a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.root && os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			top, err := filepath.EvalSymlinks(testenv.EnterableDir(t))
			testenv.Must(t, err)
			root, err := os.OpenRoot(top)
			testenv.Must(t, err)
			defer root.Close()
			testenv.Must(t, errors.Join(root.MkdirAll("a/b/c", 0o755), root.Chmod("a", 0o755), root.Chmod("a/b", 0o755)))
			if test.make != nil {
				test.make(t, root)
			}
			dir := filepath.Join(top, "a/b/c")
			if test.dir != "" {
				dir = top + "/" + test.dir
			}
			err = pathsafe.CheckOwners("", dir, dir)
			var got []string
			if exposed, ok := errors.AsType[*pathsafe.ExposedError](err); ok {
				for _, d := range exposed.Dirs {
					got = append(got, strings.TrimPrefix(d.Path, top+"/"))
				}
				if exposed.Paths[0] != dir {
					t.Errorf("Paths = %q, want %q", exposed.Paths, dir)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("CheckOwners = %v: exposed by %q, want %q", err, got, test.want)
			}
		})
	}
}

// A temporary directory is not created where others can exchange it, also if TMPDIR is such a place.
func TestMkdirTemp(t *testing.T) {
	top := testenv.EnterableDir(t)
	root, err := os.OpenRoot(top)
	testenv.Must(t, err)
	defer root.Close()
	for name, mode := range map[string]os.FileMode{"own": 0o700, "open": 0o777, "sticky": 0o777 | os.ModeSticky} {
		mkdir(name, mode)(t, root)
	}
	in := func(name string) string { return filepath.Join(top, name) }
	for _, tt := range []struct{ parent, tmp, want string }{
		{"own", "sticky", in("own")},
		{"sticky", "own", in("sticky")},
		{"open", "own", in("own")},
		{"", "sticky", in("sticky")},
		{"open", "open", "/tmp"},
	} {
		t.Setenv("TMPDIR", in(tt.tmp))
		parent := ""
		if tt.parent != "" {
			parent = in(tt.parent)
		}
		dir, err := pathsafe.MkdirTemp("x-", parent)
		if err != nil || filepath.Dir(dir) != tt.want {
			t.Errorf("MkdirTemp in %q or %q = %q, %v, want a directory in %s", tt.parent, tt.tmp, dir, err, tt.want)
		}
		_ = os.Remove(dir)
	}
}

type change = func(t *testing.T, root *os.Root)

func both(changes ...change) change {
	return func(t *testing.T, root *os.Root) {
		for _, c := range changes {
			c(t, root)
		}
	}
}

// changing returns a change that fails the test if it fails.
func changing(change func(root *os.Root) error) change {
	return func(t *testing.T, root *os.Root) {
		t.Helper()
		testenv.Must(t, change(root))
	}
}

func chmod(name string, mode os.FileMode) change {
	return changing(func(root *os.Root) error { return root.Chmod(name, mode) })
}

func mkdir(name string, mode os.FileMode) change {
	return changing(func(root *os.Root) error { return errors.Join(root.Mkdir(name, 0o700), root.Chmod(name, mode)) })
}

func link(target, name string) change {
	return changing(func(root *os.Root) error { return root.Symlink(target, name) })
}

func chown(name string) change {
	return changing(func(root *os.Root) error { return root.Chown(name, foreign, -1) })
}

func chgrp(name string) change {
	return changing(func(root *os.Root) error { return root.Chown(name, -1, foreign) })
}

func lchown(name string) change {
	return changing(func(root *os.Root) error { return root.Lchown(name, foreign, -1) })
}
