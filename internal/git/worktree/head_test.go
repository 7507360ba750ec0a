package worktree_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/worktree"
	"github.com/cotterpin/cotter/internal/testenv"
)

var (
	one = strings.Repeat("1", 40)
	two = strings.Repeat("2", 64)
)

func TestCommit(t *testing.T) {
	t.Parallel()
	packed := "# pack-refs with: peeled fully-peeled sorted \n" + two + " refs/heads/feature/main\n" + one + " refs/heads/main\n^" + two + "\n"
	for name, tt := range map[string]struct {
		files map[string]string // "->" at the start of a content makes a link
		want  string
	}{
		"detached":          {map[string]string{".git/HEAD": one + "\n"}, one},
		"detached SHA-256":  {map[string]string{".git/HEAD": two}, two},
		"a branch":          {map[string]string{".git/HEAD": "ref: refs/heads/a/b\n", ".git/refs/heads/a/b": one + "\n"}, one},
		"a packed branch":   {map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/x": two, ".git/packed-refs": packed}, one},
		"loose over packed": {map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": two, ".git/packed-refs": packed}, two},

		"no clone":               {map[string]string{"HEAD": one}, ""},
		"no commit":              {map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/packed-refs": "# x\n"}, ""},
		"a submodule":            {map[string]string{".git": "gitdir: ../x", "x/HEAD": one}, ""},
		"a linked directory":     {map[string]string{".git": "->x", "x/HEAD": one}, ""},
		"a linked HEAD":          {map[string]string{".git/HEAD": "->../x", "x": one}, ""},
		"linked refs":            {map[string]string{".git/HEAD": "ref: refs/heads/main", ".git/refs": "->../x", "x/heads/main": one}, ""},
		"a ref of a ref":         {map[string]string{".git/HEAD": "ref: refs/heads/main", ".git/refs/heads/main": "ref: refs/heads/x", ".git/refs/heads/x": one}, ""},
		"not a branch":           {map[string]string{".git/HEAD": "ref: refs/tags/x", ".git/refs/tags/x": one}, ""},
		"outside":                {map[string]string{".git/HEAD": "ref: refs/heads/../../../x", "x": one}, ""},
		"abbreviated":            {map[string]string{".git/HEAD": one[:12]}, ""},
		"two lines":              {map[string]string{".git/HEAD": one + "\n" + one}, ""},
		"reftable":               {map[string]string{".git/HEAD": "ref: refs/heads/.invalid\n", ".git/refs/heads": "this repository uses the reftable format\n"}, ""},
		"too large":              {map[string]string{".git/HEAD": one + strings.Repeat("\n", 5000)}, ""},
		"a packed line too long": {map[string]string{".git/HEAD": "ref: refs/heads/main", ".git/packed-refs": strings.Repeat("x", 1<<20)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := commitIn(t, tree(t, tt.files))
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("Commit = %q, %v, want %q", got, err, tt.want)
			}
		})
	}
	if _, err := commitIn(t, t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Commit of a directory that is not a clone: %v, want fs.ErrNotExist", err)
	}
}

// TestCommitOfGit compares the answers with git's, for clones as stock tools make them.
func TestCommitOfGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := testenv.Git(t, dir)
	run("", "init", "-q", "-b", "main")
	for _, step := range [][]string{
		{"commit", "-q", "--allow-empty", "-m", "one"}, {"pack-refs", "--all"}, {"commit", "-q", "--allow-empty", "-m", "two"},
		{"checkout", "-q", "-b", "feature/x"}, {"checkout", "-q", "--detach", "HEAD~1"},
	} {
		run("", step...)
		if got, err := commitIn(t, dir); got != run("", "rev-parse", "HEAD") || err != nil {
			t.Errorf("after git %q: Commit = %q, %v, want %q", step, got, err, run("", "rev-parse", "HEAD"))
		}
	}
}

func commitIn(t *testing.T, dir string) (string, error) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return worktree.HeadCommit(root)
}

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		target, isLink := strings.CutPrefix(text, "->")
		write := func() error { return os.WriteFile(name, []byte(text), 0o600) }
		if isLink {
			write = func() error { return os.Symlink(target, name) }
		}
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func FuzzCommit(f *testing.F) {
	f.Add("ref: refs/heads/main\n", one+" refs/heads/main\n")
	f.Add(one, "")
	f.Add("ref: refs/heads/../x\n", "")
	f.Fuzz(func(t *testing.T, head, packed string) {
		head, packed = strings.TrimPrefix(head, "->"), strings.TrimPrefix(packed, "->")
		got, err := commitIn(t, tree(t, map[string]string{".git/HEAD": head, ".git/packed-refs": packed}))
		if err == nil && !git.IsObjectID(got) {
			t.Errorf("Commit = %q, which is not the name of a commit", got)
		}
	})
}
