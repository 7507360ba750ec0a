package gittest_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git/gittest"
	"github.com/cotterpin/cotter/internal/testenv"
)

const by = "a <a@example.com> 1700000000 +0000"

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
	dir = filepath.Join(t.TempDir(), "r.git")
	git = testenv.Git(t, t.TempDir(), "GIT_DIR="+dir)
	git("", append([]string{"init", "--quiet", "--bare", "--template=", "--initial-branch=main"}, options...)...)
	return dir, git
}

// TestObjects checks every object with git fsck.
func TestObjects(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		dir, git := newRepository(t, "--object-format="+format)
		fill(t, gittest.Repository{Dir: dir, SHA256: format == "sha256"})
		if out := git("", "fsck", "--strict", "--full", "--no-dangling"); out != "" {
			t.Errorf("git fsck: %s", out)
		}
		want := "100755 a.b\n100644 a/b\n120000 a0\n"
		if format == "sha1" {
			want += "160000 sub/s\n"
		}
		var got strings.Builder
		for line := range strings.Lines(git("", "ls-tree", "-r", "v1")) {
			fields := strings.Fields(line)
			got.WriteString(fields[0] + " " + fields[3] + "\n")
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("tree (-want +got):\n%s", diff)
		}
		if got := git("", "cat-file", "-p", "v1:a/b"); got != "1" {
			t.Errorf("a/b of v1 = %q", got)
		}
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
	want := "100644 blob " + blob + "\tb\n100644 blob " + blob + "\t.."
	if diff := cmp.Diff(want, git("", "cat-file", "-p", tree)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if _, err := r.RawTree(gittest.Entry{Mode: "100644", Name: "b", ID: "x"}); err == nil {
		t.Error("RawTree took a name of no object")
	}
}
