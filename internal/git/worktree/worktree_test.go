package worktree_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/worktree"
	"github.com/cotterpin/cotter/internal/testenv"
)

// checkout makes a repository with two commits and a modified working tree.
func checkout(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git := testenv.Git(t, dir)
	for _, step := range []struct {
		file, text string
		args       string
	}{
		{"a/lock", "one\n", "init -q"},
		{"b", "b\n", "add ."},
		{".gitignore", "ignored\n", "commit -q -m one"},
		{"a/lock", "two\n", "commit -q -a -m two"},
		{"ignored", "", "status"},
		{"ä new", "", "status"},
		{"b", "changed\n", "status"},
	} {
		name := filepath.Join(dir, step.file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(step.text), 0o644)); err != nil {
			t.Fatal(err)
		}
		git("", strings.Fields(step.args)...)
	}
	return dir
}

func TestWorkTree(t *testing.T) {
	t.Parallel()
	dir := checkout(t)
	g := &gitexec.Git{}
	tree, err := worktree.Open(g, filepath.Join(dir, "a"))
	if err != nil || tree.Top != dir {
		t.Fatalf("WorkTree = %+v, %v; want %s", tree, err, dir)
	}
	for rev, want := range map[string][]string{
		"HEAD":   {".gitignore", "b", "ä new"},
		"HEAD~1": {".gitignore", "a/lock", "b", "ä new"},
	} {
		files, err := tree.ChangedSince(t.Context(), rev)
		for i, name := range files {
			files[i] = strings.TrimPrefix(name, dir+string(filepath.Separator))
		}
		slices.Sort(files)
		if err != nil || !slices.Equal(files, want) {
			t.Errorf("ChangedSince(%s) = %q, %v; want %q", rev, files, err, want)
		}
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
