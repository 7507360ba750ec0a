package worktree_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	w.git(append([]string{"init", "-q"}, create...)...)
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

// settle makes the index newer than all files, so that their times are trusted.
func (w workspace) settle() {
	w.t.Helper()
	later := time.Now().Add(time.Hour)
	w.check(os.Chtimes(w.path(".git/index"), later, later))
}

func (w workspace) changed(rev string) []string {
	w.t.Helper()
	tree, err := worktree.Open(&gitexec.Git{Env: w.env}, w.dir)
	w.check(err)
	files, err := tree.ChangedSince(w.t.Context(), rev)
	w.check(err)
	for i, file := range files {
		rel, err := filepath.Rel(w.dir, file)
		w.check(err)
		files[i] = filepath.ToSlash(rel)
	}
	return files
}

// asGit returns what git diff and git ls-files report.
func (w workspace) asGit(rev string) []string {
	w.t.Helper()
	// Git compares only whole seconds, unless the index is so old that no time in it counts. The
	// test is about the times in the original.
	index := filepath.Join(w.t.TempDir(), "index")
	content, err := os.ReadFile(w.path(".git/index"))
	w.check(err)
	w.check(os.WriteFile(index, content, 0o600))
	w.check(os.Chtimes(index, time.Time{}, time.Unix(1, 0)))
	w.env = append(w.env, "GIT_INDEX_FILE="+index)
	out := w.git("diff", "--name-only", "--no-renames", "--ignore-submodules=dirty", "-z", rev, "--") +
		w.git("ls-files", "--others", "--exclude-standard", "-z")
	found := map[string]bool{}
	for name := range strings.SplitSeq(out, "\x00") {
		if name != "" {
			found[strings.TrimSuffix(name, "/")] = true
		}
	}
	names := slices.AppendSeq([]string{}, maps.Keys(found))
	slices.Sort(names)
	return names
}

// changes are what a test does to a checkout, by their names, and the files that then have
// changed since the first commit.
var changes = map[string]struct {
	change func(w workspace)
	want   []string
}{
	"nothing":              {func(workspace) {}, []string{}},
	"times only":           {func(w workspace) { w.touch("a.tf") }, []string{}},
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
	"ignored":      {func(w workspace) { w.write("x.ignored", "") }, []string{}},
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
	// Git compares the files only with the revision.
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
	}, []string{}},
	"assumed unchanged": {func(w workspace) {
		w.git("update-index", "--assume-unchanged", "a.tf")
		w.write("a.tf", "changed\n")
	}, []string{"a.tf"}},
	"mode is ignored": {func(w workspace) {
		w.git("config", "core.fileMode", "false")
		w.check(os.Chmod(w.path("a.tf"), 0o755))
	}, []string{}},
	"split index": {func(w workspace) {
		w.git("update-index", "--split-index")
		w.write("a.tf", "changed\n")
	}, []string{"a.tf"}},
	"other checkout named by the configuration": {func(w workspace) {
		w.git("config", "core.worktree", w.t.TempDir())
		w.write("a.tf", "changed\n")
	}, []string{"a.tf"}},
}

// TestChangedSinceAsGit compares the changed files with those that git reports.
func TestChangedSinceAsGit(t *testing.T) {
	t.Parallel()
	for name, test := range testenv.SampleMap(changes, "content") {
		formats := []string{"sha1"}
		if name == "nothing" || name == "times only" || name == "content" || name == "link" {
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
				for _, settled := range []bool{false, true} {
					if settled {
						w.settle()
					}
					if diff := cmp.Diff(test.want, w.changed(first)); diff != "" {
						t.Errorf("ChangedSince (-want +got):\n%s", diff)
					}
				}
				if name == "assumed unchanged" || name == "staged and reverted" || strings.HasPrefix(name, "other checkout") {
					return // these differ from git, as the documentation says
				}
				if diff := cmp.Diff(test.want, w.asGit(first)); diff != "" {
					t.Errorf("git (-want +got):\n%s", diff)
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

// TestChangedLineEnds tests files whose line ends git converts. The times of the files do not
// match the index, so that the contents are compared.
func TestChangedLineEnds(t *testing.T) {
	t.Parallel()
	const unix, dos, mixed, binary = "a\nb\n", "a\r\nb\r\n", "a\r\nb\n", "a\x00\r\nb\r\n"
	for _, test := range []struct {
		name                  string
		attributes, autoCRLF  string
		user                  bool // core.autocrlf is in the user's configuration
		committed, checkedOut string
		changed               bool
	}{
		{"no conversion", "", "", false, unix, dos, true},
		{"core.autocrlf", "", "true", false, unix, dos, false},
		{"core.autocrlf of the user", "", "true", true, unix, dos, false},
		{"core.autocrlf=input", "", "input", false, unix, dos, false},
		{"core.autocrlf=false", "", "false", false, unix, dos, true},
		{"mixed", "", "true", false, unix, mixed, false},
		{"changed too", "", "true", false, unix, "a\r\nc\r\n", true},
		{"committed with CRLF", "", "true", false, dos, unix, true},
		{"mixed in the commit", "", "true", false, mixed, dos, true},
		{"binary", "", "true", false, "a\x00\nb\n", binary, true},
		{"text", "* text\n", "", false, unix, dos, false},
		{"text=auto", "* text=auto\n", "", false, unix, dos, false},
		{"binary with text=auto", "* text=auto\n", "", false, "a\x00\nb\n", binary, true},
		{"binary that is called text", "* text\n", "", false, "a\x00\nb\n", binary, false},
		{"-text", "* -text\n", "true", false, unix, dos, true},
		{"-text with eol", "* -text eol=crlf\n", "true", false, unix, dos, true},
		{"binary attribute", "* binary\n", "true", false, unix, dos, true},
		{"eol=crlf", "* eol=crlf\n", "", false, unix, dos, false},
		{"eol=lf", "* eol=lf\n", "", false, unix, dos, false},
		{"older crlf", "* crlf\n", "", false, unix, dos, false},
		{"other file", "*.x text\n", "", false, unix, dos, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			w.write("a.tf", test.committed)
			w.git("add", ".")
			w.git("commit", "-q", "-m", "one")
			if test.autoCRLF != "" && test.user {
				w.git("config", "--global", "core.autocrlf", test.autoCRLF)
			} else if test.autoCRLF != "" {
				w.git("config", "core.autocrlf", test.autoCRLF)
			}
			if test.attributes != "" {
				w.write(".git/info/attributes", test.attributes)
			}
			w.write("a.tf", test.checkedOut)
			w.touch("a.tf")
			want := []string{}
			if test.changed {
				want = append(want, "a.tf")
			}
			if diff := cmp.Diff(want, w.changed("HEAD")); diff != "" {
				t.Errorf("ChangedSince (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, w.asGit("HEAD")); diff != "" {
				t.Errorf("git (-want +got):\n%s", diff)
			}
		})
	}
}

// TestChangedConverted tests that a file which git converts with a filter, an encoding or $Id$
// is unchanged as long as the times in the index match, and otherwise counts as changed.
func TestChangedConverted(t *testing.T) {
	t.Parallel()
	for _, attribute := range []string{"filter=rot", "ident", "working-tree-encoding=UTF-16LE"} {
		t.Run(attribute, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" {
				t.Skip("the filter is tr")
			}
			w := newWorkspace(t)
			w.git("config", "filter.rot.clean", "tr a-y b-z")
			w.git("config", "filter.rot.smudge", "tr b-z a-y")
			w.write("a.tf", "# $Id$\n")
			w.git("add", ".")
			w.git("commit", "-q", "-m", "one")
			w.write(".git/info/attributes", "a.tf "+attribute+"\n")
			w.check(os.Remove(w.path("a.tf")))
			w.git("checkout", "-q", "--", ".")
			w.settle()
			if got := w.changed("HEAD"); len(got) > 0 {
				t.Errorf("a new checkout: ChangedSince = %q", got)
			}
			w.touch("a.tf")
			if diff := cmp.Diff([]string{"a.tf"}, w.changed("HEAD")); diff != "" {
				t.Errorf("other times: ChangedSince (-want +got):\n%s", diff)
			}
		})
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

// FuzzParseIndex checks that the list of the index is parsed or refused, whatever follows its
// entries.
func FuzzParseIndex(f *testing.F) {
	entry := "H 100644 78981922613b2afb6025042ff6bd878ac1994e85 0\ta\x00"
	state := "  ctime: 1:2\n  mtime: 3:4\n  dev: 5\tino: 6\n  uid: 7\tgid: 8\n  size: 9\tflags: 20000000\n"
	f.Add(entry + state + entry + state)
	f.Add(entry + "  another format\n" + entry)
	f.Add(entry + entry)
	f.Add("H 100644")
	f.Fuzz(func(t *testing.T, list string) {
		entries, err := worktree.ParseIndex(list)
		if err == nil && list != "" && len(entries) == 0 {
			t.Errorf("ParseIndex(%q) returns no entries", list)
		}
	})
}

// env returns an environment with PATH and the extra variables.
func env(extra ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH")}, extra...)
}
