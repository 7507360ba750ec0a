package repofiles_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/repofiles"
	"github.com/cotterpin/cotter/internal/testenv"
)

// writeNames writes files whose content is their own name, and creates directories for names that end
// in a slash.
func writeNames(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		parent := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			parent = path
		}
		testenv.Must(t, os.MkdirAll(parent, 0o755))
		if strings.HasSuffix(name, "/") {
			continue
		}
		testenv.Must(t, os.WriteFile(path, []byte(name), 0o644))
	}
}

func link(t *testing.T, dir, name, target string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
		t.Skip(err)
	}
}

func yes(string) bool { return true }

func dirOf(t *testing.T, root, home string, isUsable func(string) bool) *repofiles.Dir {
	t.Helper()
	dir, err := repofiles.FindWith(root, home, isUsable)
	testenv.Must(t, err)
	return dir
}

// readName returns the content of a file, "refused" and the reason, or another error.
func readName(t *testing.T, dir *repofiles.Dir, name string) string {
	t.Helper()
	f, err := dir.Open(name)
	if refused, ok := errors.AsType[*config.FileReadError](err); ok {
		if refused.Path != name {
			t.Errorf("Open(%q): the error is about %q", name, refused.Path)
		}
		return "refused: " + refused.Reason
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "not found"
	}
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return fmt.Sprintf("directory (%v)", err)
	}
	text, err := io.ReadAll(f)
	testenv.Must(t, err)
	return string(text)
}

func realTempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	testenv.Must(t, err)
	return dir
}

func repository(t *testing.T) (base, repo, root string) {
	t.Helper()
	base = realTempDir(t)
	repo = filepath.Join(base, "repo")
	writeNames(t, base, "outside", "repo2/x")
	writeNames(t, repo, ".git/config", "VERSION", "envs/prod/x", "modules/m/x", "sub/.git", "sub/x", "other/.GIT/config", "bare/HEAD", "bare/objects/", "bare/refs/", "bare/config", "head/HEAD", "tree/HEAD", "tree/commondir", ".hg/hgrc", ".github/x")
	root = filepath.Join(repo, "envs", "prod")
	link(t, root, "up", "../../VERSION")
	link(t, root, "dir", "../../modules")
	link(t, root, "absolute", filepath.Join(repo, "VERSION"))
	link(t, root, "out", "../../../outside")
	link(t, root, "out-absolute", filepath.Join(base, "outside"))
	link(t, root, "out-missing", "../../../missing")
	link(t, root, "out-dir", "../../..")
	link(t, root, "git", "../../.git")
	link(t, root, "config", "../../.git/config")
	link(t, root, "dangling", "missing")
	link(t, root, "loop", "loop")
	return base, repo, root
}

func TestOpen(t *testing.T) {
	t.Parallel()
	base, repo, root := repository(t)
	const outside, points, metadata = "it is outside of", "a symbolic link points outside of", "it is in the metadata of version control"
	tests := map[string]string{
		"x":                                   "envs/prod/x",
		"./x":                                 "envs/prod/x",
		"no/../x":                             "envs/prod/x",
		"../../VERSION":                       "VERSION",
		filepath.Join(root, "x"):              "envs/prod/x",
		filepath.Join(repo, "VERSION"):        "VERSION",
		filepath.Join(repo, "no/../VERSION"):  "VERSION",
		"../../sub/x":                         "sub/x",
		"../../.github/x":                     ".github/x",
		"../../head/HEAD":                     "head/HEAD",
		"up":                                  "VERSION",
		"dir/m/x":                             "modules/m/x",
		"absolute":                            "VERSION",
		"missing":                             "not found",
		"missing/x":                           "not found",
		"dangling":                            "not found",
		"loop":                                "too many levels",
		"x/y":                                 "not a directory",
		".":                                   "directory (<nil>)",
		"../..":                               "directory (<nil>)",
		"../../modules":                       "directory (<nil>)",
		"dir":                                 "directory (<nil>)",
		"../../../outside":                    outside,
		"../../../missing":                    outside,
		"../../../repo2/x":                    outside,
		"../../..":                            outside,
		filepath.Join(base, "outside"):        outside,
		filepath.Join(base, "missing"):        outside,
		repo + "2/x":                          outside,
		"~/x":                                 "not found", // functions do not expand it
		"out":                                 points,
		"out-absolute":                        points,
		"out-missing":                         points,
		"out-dir/outside":                     points,
		"out-dir/missing":                     points,
		"out-dir/repo/VERSION":                points,
		"../../.git/config":                   metadata,
		"../../.git/missing":                  metadata,
		"../../.git":                          metadata,
		"../../.GIT/config":                   metadata,
		"../../.Git /config":                  metadata,
		"../../git~1/config":                  metadata,
		"../../.g\u200cit/config":             metadata,
		"../../missing/../.git/config":        metadata,
		filepath.Join(repo, ".git", "config"): metadata,
		"../../sub/.git":                      metadata,
		"../../other/.GIT/config":             metadata,
		"git/config":                          metadata,
		"config":                              metadata,
		"../../bare/config":                   metadata,
		"../../tree/HEAD":                     metadata,
		"../../.hg/hgrc":                      metadata,
	}
	if runtime.GOOS != "windows" { // where these names are relative or not valid
		tests["/proc/self/environ"], tests["/dev/zero"], tests["../../.git::$INDEX_ALLOCATION/x"] = outside, outside, metadata
	}
	dir := dirOf(t, root, "", yes)
	for name, want := range tests {
		got := readName(t, dir, name)
		if refused := want == outside || want == points || want == metadata; refused && !strings.HasPrefix(got, "refused: "+want) || !strings.Contains(got, want) {
			t.Errorf("Open(%q): %s, want %s", name, got, want)
		}
		if strings.Contains(got, "outside of") && !strings.Contains(got, "repository of the root module") {
			t.Errorf("Open(%q): %s, want the repository to be named", name, got)
		}
	}
}

// TestFind finds the directories of root modules. The files of a directory and of its child are
// read, and those of its parent are not.
func TestFind(t *testing.T) {
	t.Parallel()
	base := realTempDir(t)
	writeNames(t, base, "x", "plain/x", "plain/root/x", "plain/root/down/x", "repo/.git/HEAD", "repo/x", "repo/root/x", "repo/root/.x", "repo/root/down/x", "repo/module/.git", "repo/module/x", "repo/module/root/x", "repo/.git/hooks/x")
	no := func(string) bool { return false }
	at := func(name string) string { return filepath.Join(base, name) }
	tests := []struct {
		name, root, home string
		isUsable         func(string) bool
		want             map[string]string // by names: the content, or "" if the file is refused
	}{
		{name: "no repository", root: "plain/root", isUsable: yes, want: map[string]string{"x": "plain/root/x", "down/x": "plain/root/down/x", "../x": ""}},
		{name: "top", root: "repo", isUsable: yes, want: map[string]string{"x": "repo/x", "root/x": "repo/root/x", "../x": "", ".git/HEAD": ""}},
		{name: "below the top", root: "repo/root", isUsable: yes, want: map[string]string{"x": "repo/root/x", ".x": "repo/root/.x", "../x": "repo/x", "../../x": ""}},
		{name: "submodule", root: "repo/module/root", isUsable: yes, want: map[string]string{"x": "repo/module/root/x", "../x": "repo/module/x", "../../x": ""}},
		{name: "of another user", root: "repo/root", isUsable: no, want: map[string]string{"x": "repo/root/x", "down/x": "repo/root/down/x", "../x": ""}},
		{name: "home directory", root: "repo/root", home: at("repo"), isUsable: yes, want: map[string]string{"x": "repo/root/x", ".x": "repo/root/.x", "../x": ""}},
		{name: "above the home directory", root: "repo/root", home: at("repo/module"), isUsable: yes, want: map[string]string{"x": "repo/root/x", "../x": "", "../module/x": ""}},
		{name: "in the home directory", root: "repo/root", home: base, isUsable: yes, want: map[string]string{"x": "repo/root/x", "../x": "repo/x"}},
		{name: "above the root module, the home directory", root: "repo/root", home: at("repo/root"), isUsable: yes, want: map[string]string{"x": "repo/root/x", ".x": "", "../x": ""}},
		{name: "root module is the home directory", root: "repo", home: at("repo"), isUsable: yes, want: map[string]string{"x": "repo/x", "root/x": "repo/root/x", "root/.x": "", "../x": ""}},
		{name: "missing home directory", root: "repo/root", home: at("missing"), isUsable: yes, want: map[string]string{"../x": "repo/x"}},
		{name: "inside of .git", root: "repo/.git/hooks", isUsable: yes, want: map[string]string{"x": "", "../../x": "repo/x"}},
		{name: "inside of .git of another user", root: "repo/.git/hooks", isUsable: no, want: map[string]string{"x": "", "../../x": ""}},
		{name: "root of the file system", root: string(filepath.Separator), isUsable: yes, want: map[string]string{at("x"): "", "proc/self/environ": ""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := test.root
			if !filepath.IsAbs(root) {
				root = at(root)
			}
			dir := dirOf(t, root, test.home, test.isUsable)
			for name, want := range test.want {
				if got := readName(t, dir, name); got != want && (want != "" || !strings.HasPrefix(got, "refused")) {
					t.Errorf("Open(%q): %s, want %q", name, got, want)
				}
			}
		})
	}
}

// TestLinkedRoot reaches a root module through links. Names may begin with its path as it was
// given, because abspath and path.cwd return that.
func TestLinkedRoot(t *testing.T) {
	t.Parallel()
	base := realTempDir(t)
	writeNames(t, base, "x", "data/repo/.git/HEAD", "data/repo/x", "data/repo/root/x")
	link(t, base, "home", "data")
	link(t, base, "prod", "data/repo/root")
	tests := []struct{ root, name, want string }{
		{"home/repo/root", "home/repo/root/x", "data/repo/root/x"},
		{"home/repo/root", "home/repo/x", "data/repo/x"},
		{"home/repo/root", "data/repo/x", "data/repo/x"},
		{"home/repo/root", "home/x", ""},
		{"home/repo/root", "x", ""},
		{"prod", "prod/x", "data/repo/root/x"},
		{"prod", "x", ""},
		{"prod", "home/repo/x", ""}, // a link that the path of the root module does not have
	}
	for _, test := range tests {
		dir := dirOf(t, filepath.Join(base, test.root), "", yes)
		if got := readName(t, dir, filepath.Join(base, test.name)); got != test.want && (test.want != "" || !strings.HasPrefix(got, "refused")) {
			t.Errorf("Open(%q) in %s: %s, want %q", test.name, test.root, got, test.want)
		}
		if got := readName(t, dir, "../x"); got != "data/repo/x" {
			t.Errorf("Open(../x) in %s: %s, want data/repo/x", test.root, got)
		}
	}
}

// TestReplaced replaces a directory by a link to another one while files are opened. The content
// is never that of the other directory.
func TestReplaced(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open directory cannot be renamed")
	}
	base := realTempDir(t)
	repo := filepath.Join(base, "repo")
	writeNames(t, repo, ".git/x", "d/x")
	link(t, repo, "e", ".git")
	dir := dirOf(t, repo, "", yes)
	stop := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for range 2000 {
			for _, names := range [][2]string{{"d", "f"}, {"e", "d"}, {"d", "e"}, {"f", "d"}} {
				if err := os.Rename(filepath.Join(repo, names[0]), filepath.Join(repo, names[1])); err != nil {
					t.Error(err)
				}
			}
		}
		close(stop)
	})
	for running := true; running; {
		if got := readName(t, dir, "d/x"); got == ".git/x" {
			t.Error("a file below .git was read")
			break
		}
		select {
		case <-stop:
			running = false
		default:
		}
	}
	group.Wait()
}
