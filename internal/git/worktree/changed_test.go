package worktree_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/worktree"
	"github.com/cotterpin/cotter/internal/testenv"
)

// workspace is a checkout that a test changes.
type workspace struct {
	t   *testing.T
	dir string
	env []string
}

func newWorkspace(t *testing.T, create ...string) workspace {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := workspace{t, filepath.Join(base, "checkout"), env(
		"HOME="+base, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		"GIT_ALLOW_PROTOCOL=file", "GIT_COMMITTER_DATE=2026-10-02T23:30:00-0500",
	)}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	testenv.InitGit(t, w.dir, create...)
	return w
}

func (w workspace) git(args ...string) string {
	w.t.Helper()
	return testenv.Git(w.t, w.dir, w.env...)("", args...)
}

func (w workspace) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w workspace) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w workspace) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// touch makes the times of a file differ from those in the index.
func (w workspace) touch(name string) {
	w.t.Helper()
	w.check(os.Chtimes(w.path(name), time.Time{}, time.Unix(1_000_000_000, 0)))
}

func (w workspace) changed(rev string) []string {
	w.t.Helper()
	tree, err := worktree.Open(&gitexec.Git{Env: w.env}, w.dir)
	w.check(err)
	index := pathsafe.Inside(w.dir, w.git("rev-parse", "--git-path", "index"))
	before, err := os.ReadFile(index)
	w.check(err)
	files, err := tree.ChangedSince(w.t.Context(), rev)
	w.check(err)
	if after, err := os.ReadFile(index); err != nil || !bytes.Equal(before, after) {
		w.t.Errorf("ChangedSince has changed the index (%v)", err)
	}
	for i, file := range files {
		rel, err := filepath.Rel(w.dir, file)
		w.check(err)
		files[i] = filepath.ToSlash(rel)
	}
	return files
}

// checkOutAgain has git write a file anew, and changes its times.
func (w workspace) checkOutAgain(name string) {
	w.t.Helper()
	w.check(os.Remove(w.path(name)))
	w.git("checkout", "-q", "--", name)
	w.touch(name)
}

// changes are what a test does to a checkout, by their names, and the files that then have
// changed since the first commit.
var changes = map[string]struct {
	change func(w workspace)
	want   []string
}{
	"nothing":              {func(workspace) {}, nil},
	"times only":           {func(w workspace) { w.touch("a.tf") }, nil},
	"content":              {func(w workspace) { w.write("dir/b.tf", "changed\n") }, []string{"dir/b.tf"}},
	"content of same size": {func(w workspace) { w.write("a.tf", "A\n") }, []string{"a.tf"}},
	"content with the same size and times": {func(w workspace) {
		info, err := os.Stat(w.path("a.tf"))
		w.check(err)
		w.write("a.tf", "A\n")
		w.check(os.Chtimes(w.path("a.tf"), time.Time{}, info.ModTime()))
	}, []string{"a.tf"}},
	"emptied":      {func(w workspace) { w.write("a.tf", "") }, []string{"a.tf"}},
	"filled":       {func(w workspace) { w.write("empty", "x") }, []string{"empty"}},
	"mode":         {func(w workspace) { w.check(os.Chmod(w.path("a.tf"), 0o755)) }, []string{"a.tf"}},
	"deleted":      {func(w workspace) { w.check(os.Remove(w.path("a.tf"))) }, []string{"a.tf"}},
	"new":          {func(w workspace) { w.write("dir/new\nä.tf", "") }, []string{"dir/new\nä.tf"}},
	"ignored":      {func(w workspace) { w.write("x.ignored", "") }, nil},
	"link":         {func(w workspace) { w.relink("link", "other") }, []string{"link"}},
	"file to link": {func(w workspace) { w.relink("a.tf", "dir/b.tf") }, []string{"a.tf"}},
	"link to file": {func(w workspace) {
		w.check(os.Remove(w.path("link")))
		w.write("link", "a.tf")
	}, []string{"link"}},
	"directory to link": {func(w workspace) {
		w.check(os.Rename(w.path("dir"), w.path("moved")))
		w.check(os.Symlink("moved", w.path("dir")))
	}, []string{"dir", "dir/b.tf", "moved/b.tf"}},
	"file to directory": {func(w workspace) {
		w.check(os.Remove(w.path("a.tf")))
		w.write("a.tf/c", "")
	}, []string{"a.tf", "a.tf/c"}},
	"staged": {func(w workspace) {
		w.write("a.tf", "staged\n")
		w.git("add", "a.tf")
	}, []string{"a.tf"}},
	// git diff would compare the file only with the revision.
	"staged and reverted": {func(w workspace) {
		w.write("a.tf", "staged\n")
		w.git("add", "a.tf")
		w.write("a.tf", "a\n")
	}, []string{"a.tf"}},
	"staged deletion": {func(w workspace) { w.git("rm", "-q", "--cached", "a.tf") }, []string{"a.tf"}},
	"renamed":         {func(w workspace) { w.git("mv", "a.tf", "z.tf") }, []string{"a.tf", "z.tf"}},
	"intent to add": {func(w workspace) {
		w.write("n.tf", "n\n")
		w.git("add", "-N", "n.tf")
	}, []string{"n.tf"}},
	"committed": {func(w workspace) {
		w.write("dir/b.tf", "committed\n")
		w.git("commit", "-q", "-a", "-m", "two")
	}, []string{"dir/b.tf"}},
	"conflict": {func(w workspace) {
		w.git("checkout", "-q", "-b", "side")
		w.write("a.tf", "side\n")
		w.git("commit", "-q", "-a", "-m", "side")
		w.git("checkout", "-q", "-")
		w.write("a.tf", "main\n")
		w.git("commit", "-q", "-a", "-m", "main")
		cmd := exec.CommandContext(w.t.Context(), "git", "merge", "side")
		cmd.Dir, cmd.Env = w.dir, w.env
		if cmd.Run() == nil {
			w.t.Fatal("there is no conflict")
		}
	}, []string{"a.tf"}},
	"sparse": {func(w workspace) {
		w.git("update-index", "--skip-worktree", "a.tf")
		w.check(os.Remove(w.path("a.tf")))
	}, nil},
	"assumed unchanged": {func(w workspace) {
		w.git("update-index", "--assume-unchanged", "a.tf")
		w.write("a.tf", "changed\n")
	}, []string{"a.tf"}},
	"line ends": {func(w workspace) { w.write("a.tf", "a\r\n") }, []string{"a.tf"}},
	"line ends by the user's core.autocrlf": {func(w workspace) {
		w.git("config", "--global", "core.autocrlf", "true")
		w.checkOutAgain("a.tf")
	}, nil},
	"line ends by an attribute": {func(w workspace) {
		w.write(".git/info/attributes", "a.tf text eol=crlf\n")
		w.checkOutAgain("a.tf")
	}, nil},
	"mode is ignored": {func(w workspace) {
		w.git("config", "core.fileMode", "false")
		w.check(os.Chmod(w.path("a.tf"), 0o755))
	}, nil},
	"split index": {func(w workspace) {
		w.git("update-index", "--split-index")
		w.write("a.tf", "changed\n")
	}, []string{"a.tf"}},
	"other checkout named by the configuration": {func(w workspace) {
		w.git("config", "core.worktree", w.t.TempDir())
		w.write("a.tf", "changed\n")
	}, []string{"a.tf"}},
}

func TestChangedSince(t *testing.T) {
	t.Parallel()
	for name, test := range testenv.SampleMap(changes, "content") {
		formats := []string{"sha1"}
		if name == "content" {
			formats = append(formats, "sha256")
		}
		for _, format := range formats {
			t.Run(name+", "+format, func(t *testing.T) {
				t.Parallel()
				if runtime.GOOS == "windows" {
					t.Skip("some changes need links and modes")
				}
				w := newWorkspace(t, "--object-format="+format)
				w.write("a.tf", "a\n")
				w.write("dir/b.tf", "b\n")
				w.write("empty", "")
				w.write(".gitignore", "*.ignored\n")
				w.check(os.Symlink("a.tf", w.path("link")))
				w.git("add", ".")
				w.git("commit", "-q", "-m", "one")
				first := strings.TrimSpace(w.git("rev-parse", "HEAD"))
				test.change(w)
				if diff := cmp.Diff(test.want, w.changed(first)); diff != "" {
					t.Errorf("ChangedSince (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func (w workspace) relink(name, target string) {
	w.t.Helper()
	w.check(os.Remove(w.path(name)))
	w.check(os.Symlink(target, w.path(name)))
}

// TestChangedFiltered tests that no filter is run, wherever it is configured. A file with one is unchanged as
// long as the times in the index match.
func TestChangedFiltered(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the filter is tr")
	}
	w := newWorkspace(t)
	w.git("config", "filter.rot.clean", "tr a-y b-z")
	w.git("config", "filter.rot.smudge", "tr b-z a-y")
	w.write("a.tf", "# abc\n")
	w.write(".gitattributes", "a.tf filter=rot\n")
	w.git("add", ".")
	w.git("commit", "-q", "-m", "one")
	w.check(os.Remove(w.path("a.tf")))
	w.git("checkout", "-q", "--", ".")
	later := time.Now().Add(time.Hour) // so that the time of the file is trusted
	w.check(os.Chtimes(w.path(".git/index"), later, later))
	ran := filepath.Join(t.TempDir(), "ran")
	for _, key := range []string{"clean", "process"} {
		w.git("config", "filter.rot."+key, "touch "+ran)
		w.git("config", "--global", "filter.rot."+key, "touch "+ran)
	}
	w.git("config", "filter.rot.required", "true")
	if got := w.changed("HEAD"); len(got) > 0 {
		t.Errorf("a new checkout: ChangedSince = %q", got)
	}
	w.touch("a.tf")
	if diff := cmp.Diff([]string{"a.tf"}, w.changed("HEAD")); diff != "" {
		t.Errorf("other times: ChangedSince (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the filter was run")
	}
	w.git("config", "filter.a=b.clean", "touch "+ran)
	tree, err := worktree.Open(&gitexec.Git{Env: w.env}, w.dir)
	w.check(err)
	if _, err := tree.ChangedSince(t.Context(), "HEAD"); err == nil || !strings.Contains(err.Error(), "a=b") {
		t.Errorf("a filter that cannot be turned off: ChangedSince: %v", err)
	}
}

// TestChangedSubmodule tests that a submodule counts as changed if another commit is checked
// out in it.
func TestChangedSubmodule(t *testing.T) {
	t.Parallel()
	other := newWorkspace(t)
	other.write("x", "x\n")
	other.git("add", ".")
	other.git("commit", "-q", "-m", "one")
	w := newWorkspace(t)
	w.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.dir, "sub")
	w.git("commit", "-q", "-m", "one")
	if got := w.changed("HEAD"); len(got) > 0 {
		t.Errorf("ChangedSince = %q", got)
	}
	w.write("sub/x", "changed\n")
	if got := w.changed("HEAD"); len(got) > 0 {
		t.Errorf("a changed file in it: ChangedSince = %q", got)
	}
	w.git("-C", "sub", "commit", "-q", "-a", "-m", "two")
	if diff := cmp.Diff([]string{"sub"}, w.changed("HEAD")); diff != "" {
		t.Errorf("another commit: ChangedSince (-want +got):\n%s", diff)
	}
	w.git("submodule", "--quiet", "deinit", "-f", "sub")
	if got := w.changed("HEAD"); len(got) > 0 {
		t.Errorf("not checked out: ChangedSince = %q", got)
	}
}

// TestChangedInWorkingTree tests an additional working tree, whose index is in the repository of
// another checkout.
func TestChangedInWorkingTree(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.write("a.tf", "a\n")
	w.git("add", ".")
	w.git("commit", "-q", "-m", "one")
	more := w
	more.dir = filepath.Join(filepath.Dir(w.dir), "more")
	w.git("worktree", "add", "-q", more.dir)
	w.write("a.tf", "changed here\n")
	if got := more.changed("HEAD"); len(got) > 0 {
		t.Errorf("ChangedSince = %q", got)
	}
	more.write("a.tf", "changed\n")
	more.write("b.tf", "")
	if diff := cmp.Diff([]string{"a.tf", "b.tf"}, more.changed("HEAD")); diff != "" {
		t.Errorf("ChangedSince (-want +got):\n%s", diff)
	}
}

// env returns an environment with PATH and the extra variables.
func env(extra ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH")}, extra...)
}
