package gitdir_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestFind(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	git := testenv.Git(t, root)
	git("", "init", "-q", "outer")
	git("", "init", "-q", "--separate-git-dir=separate", "outer/file")
	git("", "-C", "outer", "commit", "-q", "--allow-empty", "-m", "x")
	git("", "-C", "outer", "worktree", "add", "-q", "../tree")
	for _, dir := range []string{"outer/empty/.git", "outer/plain/below", "outer/broken", "none"} {
		if err := os.MkdirAll(path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	appendFile(t, path("outer/broken/.git"), "gitdir: nowhere\n")
	appendFile(t, path("tree/file"), "")
	if err := os.Symlink(path("outer/plain"), path("link")); err != nil {
		t.Fatal(err)
	}
	outer := gitdir.Repository{Top: path("outer"), GitDir: path("outer/.git"), CommonDir: path("outer/.git")}
	for _, test := range []struct {
		name, dir string
		want      gitdir.Repository
		err       string
	}{
		{"top", "outer", outer, ""},
		{"below", "outer/plain/below", outer, ""},
		{"link", "link", outer, ""},
		{"directory .git that is no repository", "outer/empty", outer, ""},
		{"inside of the git directory", "outer/.git/refs", outer, ""},
		{"file", "outer/file", gitdir.Repository{Top: path("outer/file"), GitFile: path("outer/file/.git"), GitDir: path("separate"), CommonDir: path("separate")}, ""},
		{"working tree", "tree", gitdir.Repository{Top: path("tree"), GitFile: path("tree/.git"), GitDir: path("outer/.git/worktrees/tree"), CommonDir: path("outer/.git")}, ""},
		{"broken file", "outer/broken", gitdir.Repository{}, "which is not a git directory"},
		{"missing directory", "missing", gitdir.Repository{}, "no such file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := gitdir.Find(path(test.dir))
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("Find: %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if err := gitdir.Check(got, nil); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		if got, err := gitdir.Find(path("none")); !errors.Is(err, gitdir.ErrNoRepository) {
			t.Errorf("Find: %v, %v", got, err)
		}
	})
}

// TestZero tests that a repository that was not found is not allowed, not even by "*".
func TestZero(t *testing.T) {
	t.Parallel()
	env := append(plainEnv(t.TempDir()), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	for _, repo := range []gitdir.Repository{{}, {Top: t.TempDir()}} {
		if err := gitdir.Check(repo, env); err == nil {
			t.Errorf("%+v is allowed", repo)
		}
	}
}

// plainEnv returns the environment of a user without settings.
func plainEnv(home string) []string {
	return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
}

// atLeast reports whether the output of "git version" has at least a version, such as "2.46".
func atLeast(t *testing.T, output, version string) bool {
	t.Helper()
	var have, want [2]int
	_, err := fmt.Sscanf(output, "git version %d.%d", &have[0], &have[1])
	_, wrong := fmt.Sscanf(version, "%d.%d", &want[0], &want[1])
	if err := errors.Join(err, wrong); err != nil {
		t.Fatal(err)
	}
	return slices.Compare(have[:], want[:]) >= 0
}

func appendFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // other users read it
		t.Fatal(err)
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // see above
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteString(content)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}
