package gittest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git/gittest"
)

const by = "a <a@example.com> 1700000000 +0000"

// history is the input with which git fast-import makes the same repository as fill.
const history = `commit refs/heads/main
mark :1
committer ` + by + `
data 2
x

M 100644 inline a/b
data 1
1
M 100755 inline a.b
data 1
2
M 120000 inline a0
data 3
a.b
M 160000 0123456789012345678901234567890123456789 sub/s

commit refs/heads/main
mark :2
committer ` + by + `
data 2
y

deleteall

tag v1
from :1
tagger ` + by + `
data 2
t

`

// fill writes two commits and a tag.
func fill(t *testing.T, r gittest.Repository) {
	t.Helper()
	must := func(id string, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	const sub = "0123456789012345678901234567890123456789"
	files := []gittest.File{
		{Path: "sub/s", Mode: "160000", Content: []byte(sub)},
		{Path: "a/b", Content: []byte("0")}, {Path: "a/b", Content: []byte("1")},
		{Path: "a0", Mode: "120000", Content: []byte("a.b")}, {Path: "a.b", Mode: "100755", Content: []byte("2")},
	}
	if r.SHA256 {
		files = files[1:]
	}
	first := must(r.Commit(gittest.Commit{Tree: must(r.Tree(files...)), By: by, Message: "x\n"}))
	second := must(r.Commit(gittest.Commit{Tree: must(r.Tree()), Parents: []string{first}, By: by, Message: "y\n"}))
	must("", r.SetRef("refs/heads/main", second))
	must(r.Tag(gittest.Tag{Name: "v1", Object: first, By: by, Message: "t\n"}))
}

// newRepository makes an empty repository and returns its directory and a function that
// runs git in it.
func newRepository(t *testing.T, options ...string) (dir string, git func(stdin string, args ...string) string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir = filepath.Join(t.TempDir(), "r.git")
	git = func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_DIR=" + dir}
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("", append([]string{"init", "--quiet", "--bare", "--template=", "--initial-branch=main"}, options...)...)
	return dir, git
}

// TestSameAsGit checks every object with git fsck. It also compares the refs, and so
// everything that they point to, with a repository made by git itself.
func TestSameAsGit(t *testing.T) {
	t.Parallel()
	dir, git := newRepository(t)
	fill(t, gittest.Repository{Dir: dir})
	if out := git("", "fsck", "--strict", "--full", "--no-dangling"); out != "" {
		t.Errorf("git fsck: %s", out)
	}
	_, other := newRepository(t)
	other(history, "fast-import", "--quiet")
	if diff := cmp.Diff(other("", "show-ref", "--dereference"), git("", "show-ref", "--dereference")); diff != "" {
		t.Errorf("refs (-git +gittest):\n%s", diff)
	}
	if got := git("", "cat-file", "-p", "v1:a/b"); got != "1" {
		t.Errorf("a/b of v1 = %q", got)
	}
}

func TestSHA256(t *testing.T) {
	t.Parallel()
	dir, git := newRepository(t, "--object-format=sha256")
	fill(t, gittest.Repository{Dir: dir, SHA256: true})
	if out := git("", "fsck", "--strict", "--full", "--no-dangling"); out != "" {
		t.Errorf("git fsck: %s", out)
	}
}

// TestRawTree writes a tree that git itself would not make.
func TestRawTree(t *testing.T) {
	t.Parallel()
	dir, git := newRepository(t)
	r := gittest.Repository{Dir: dir}
	blob, err := r.Object("blob", []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := r.RawTree(gittest.Entry{Mode: "100644", Name: "b", ID: blob}, gittest.Entry{Mode: "100644", Name: "..", ID: blob})
	if err != nil {
		t.Fatal(err)
	}
	want := "100644 blob " + blob + "\tb\n100644 blob " + blob + "\t..\n"
	if diff := cmp.Diff(want, git("", "cat-file", "-p", tree)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if _, err := r.RawTree(gittest.Entry{Mode: "100644", Name: "b", ID: "x"}); err == nil {
		t.Error("RawTree took a name of no object")
	}
}
