package gitdir_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git/gitdir"
)

func TestFind(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	git := lookGit(t)
	run(t, exec.Command(git, "init", "-q", path("outer")))                                                                                            //nolint:gosec // the git found above
	run(t, exec.Command(git, "init", "-q", "--separate-git-dir="+path("separate"), path("outer/file")))                                               //nolint:gosec // see above
	run(t, exec.Command(git, "-C", path("outer"), "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x")) //nolint:gosec // see above
	run(t, exec.Command(git, "-C", path("outer"), "worktree", "add", "-q", path("tree")))                                                             //nolint:gosec // see above
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
	outer := gitdir.Repository{Top: path("outer"), GitDir: path("outer/.git")}
	for _, test := range []struct {
		name, dir string
		want      gitdir.Repository
		err       string
	}{
		{"top", "outer", outer, ""},
		{"below", "outer/plain/below", outer, ""},
		{"link", "link", outer, ""},
		{"directory .git that is none", "outer/empty", outer, ""},
		{"inside of the git directory", "outer/.git/refs", outer, ""},
		{"file", "outer/file", gitdir.Repository{Top: path("outer/file"), GitFile: path("outer/file/.git"), GitDir: path("separate")}, ""},
		{"working tree", "tree", gitdir.Repository{Top: path("tree"), GitFile: path("tree/.git"), GitDir: path("outer/.git/worktrees/tree")}, ""},
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

func lookGit(t *testing.T) string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	return git
}

// atLeast reports whether a git has at least a version, such as "2.46".
func atLeast(t *testing.T, git, version string) bool {
	t.Helper()
	out, err := exec.Command(git, "version").Output() //nolint:gosec // the git of the tests
	if err != nil {
		t.Fatal(err)
	}
	number := func(text string) (n int) {
		major, minor, _ := strings.Cut(text, ".")
		minor, _, _ = strings.Cut(minor, ".")
		for _, part := range []string{major, minor} {
			digits := 0
			for _, c := range strings.TrimSpace(part) {
				digits = digits*10 + int(c-'0')
			}
			n = n*1000 + digits
		}
		return n
	}
	have, _, _ := strings.Cut(strings.TrimPrefix(string(out), "git version "), " ")
	return number(have) >= number(version)
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

func run(t *testing.T, command *exec.Cmd) {
	t.Helper()
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}
