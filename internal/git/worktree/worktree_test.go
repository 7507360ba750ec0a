package worktree_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/worktree"
)

func TestWorkTree(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	dir := w.dir
	w.write("a/lock", "one\n")
	w.write("b", "b\n")
	w.git("add", ".")
	w.git("commit", "-q", "-m", "one")
	w.write("a/lock", "two\n")
	w.git("commit", "-q", "-a", "-m", "two")
	g := &gitexec.Git{}
	tree, err := worktree.Open(g, filepath.Join(dir, "a"))
	if err != nil || tree.Top != dir {
		t.Fatalf("WorkTree = %+v, %v; want %s", tree, err, dir)
	}
	if text, err := tree.Show(t.Context(), "HEAD~1", "a/lock", 100); string(text) != "one\n" || err != nil {
		t.Errorf("Show = %q, %v", text, err)
	}
	if _, err := tree.Show(t.Context(), "HEAD", "a/lock", 3); !errors.Is(err, gitexec.ErrOutput) {
		t.Errorf("Show of a file that is too large = %v, want ErrOutput", err)
	}
	if _, err := tree.Show(t.Context(), "HEAD", "none", 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Show of no file = %v, want fs.ErrNotExist", err)
	}
	if _, err := tree.Show(t.Context(), "HEAD", "a", 100); err == nil {
		t.Error("Show of a directory: no error")
	}
	for _, rev := range []string{"none", "", "--help", "HEAD:b"} {
		if _, err := tree.ChangedSince(t.Context(), rev); err == nil {
			t.Errorf("ChangedSince(%q): no error", rev)
		}
	}
	if _, err := worktree.Open(g, filepath.VolumeName(dir)+string(filepath.Separator)); !errors.Is(err, gitdir.ErrNoRepository) {
		t.Errorf("WorkTree of no repository = %v", err)
	}
}
