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
			if err := gitdir.Check(got); err != nil {
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
	rule := gitdir.Rule{Env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}}
	if err := rule.Check(gitdir.Repository{}); err == nil {
		t.Error("the zero repository is allowed")
	}
	if err := rule.Check(gitdir.Repository{Top: t.TempDir()}); err == nil {
		t.Error("a repository without a git directory is allowed")
	}
}

var configTests = []struct {
	name  string
	files map[string]string // below HOME
	env   []string          // HOME stands for the directory
	want  []string
}{
	{name: "none"},
	{
		name: "order",
		files: map[string]string{
			"system":             "[safe]\ndirectory = /1\n",
			".config/git/config": "[safe]\ndirectory = /2\n",
			".gitconfig":         "[safe]\ndirectory = /3\n",
		},
		env: []string{
			"GIT_CONFIG_SYSTEM=HOME/system", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=Safe.Directory", "GIT_CONFIG_VALUE_0=/4",
			"GIT_CONFIG_PARAMETERS='safe.directory'='/5' 'safe.directory=/6'",
		},
		want: []string{"/1", "/2", "/3", "/4", "/5", "/6"},
	},
	{
		name:  "no system configuration",
		files: map[string]string{"system": "[safe]\ndirectory = /1\n", ".gitconfig": "[safe]\ndirectory = /3\n"},
		env:   []string{"GIT_CONFIG_SYSTEM=HOME/system", "GIT_CONFIG_NOSYSTEM=yes"},
		want:  []string{"/3"},
	},
	{
		name:  "GIT_CONFIG_NOSYSTEM is false",
		files: map[string]string{"system": "[safe]\ndirectory = /1\n"},
		env:   []string{"GIT_CONFIG_SYSTEM=HOME/system", "GIT_CONFIG_NOSYSTEM=false"},
		want:  []string{"/1"},
	},
	{
		name:  "XDG_CONFIG_HOME",
		files: map[string]string{".config/git/config": "[safe]\ndirectory = /2\n", "xdg/git/config": "[safe]\ndirectory = /x\n"},
		env:   []string{"XDG_CONFIG_HOME=HOME/xdg"},
		want:  []string{"/x"},
	},
	{
		name:  "global file",
		files: map[string]string{".gitconfig": "[safe]\ndirectory = /3\n", "other": "[safe]\ndirectory = /o\n"},
		env:   []string{"GIT_CONFIG_GLOBAL=HOME/other"},
		want:  []string{"/o"},
	},
	{
		name: "includes",
		files: map[string]string{
			".gitconfig": "[include]\npath = more\npath = ~/home\npath = missing\n[safe]\ndirectory = /3\n[includeIf \"gitdir:/\"]\npath = conditional\n",
			"more":       "[safe]\ndirectory = /more\n[include]\npath = sub/deeper\n",
			"sub/deeper": "[safe]\ndirectory = /deeper\n",
			"home":       "[safe]\ndirectory = /home\n",
			// Git does not know its repository yet.
			"conditional": "[safe]\ndirectory = /conditional\n",
		},
		want: []string{"/more", "/deeper", "/home", "/3"},
	},
	{
		name:  "include by the command",
		files: map[string]string{"more": "[safe]\ndirectory = /more\n"},
		env:   []string{"GIT_CONFIG_PARAMETERS='include.path'='HOME/more'"},
		want:  []string{"/more"},
	},
	{
		name:  "byte order mark and other settings",
		files: map[string]string{".gitconfig": "\ufeff[user]\n\tname = \"A # B\" ; c\n[safe \"x\"]\ndirectory = /x\n[SAFE]\nDIRECTORY = \"/a b\"\n"},
		want:  []string{"/a b"},
	},
	{
		name: "quotes in parameters",
		env:  []string{`GIT_CONFIG_PARAMETERS='a.b'='it'\''s'  'a.c'= 'safe.directory'='/it'\''s'\!''`},
		want: []string{"/it's!"},
	},
}

// TestSafeDirectories compares the values of safe.directory with those that git lists.
func TestSafeDirectories(t *testing.T) {
	t.Parallel()
	git := lookGit(t)
	for _, test := range configTests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for name, content := range test.files {
				appendFile(t, filepath.Join(home, filepath.FromSlash(name)), content)
			}
			env := plainEnv(home)
			if test.env == nil || !strings.HasPrefix(test.env[0], "GIT_CONFIG_SYSTEM=") {
				env = append(env, "GIT_CONFIG_NOSYSTEM=1")
			}
			for _, variable := range test.env {
				env = append(env, strings.ReplaceAll(variable, "HOME/", home+"/"))
			}
			got, err := gitdir.SafeDirectories(env)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("SafeDirectories (-want +got):\n%s", diff)
			}
			command := exec.Command(git, "config", "--includes", "-z", "--get-all", "safe.directory") //nolint:gosec // the git found above
			command.Env, command.Dir = append(env, "GIT_DIR=/dev/null"), home
			out, err := command.Output()
			if err != nil && len(test.want) > 0 {
				t.Fatal(err)
			}
			want := ""
			for _, value := range test.want {
				want += value + "\x00"
			}
			if diff := cmp.Diff(want, string(out)); diff != "" {
				t.Errorf("git config (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnreadableConfig tests that nothing is allowed if the configuration cannot be read.
func TestUnreadableConfig(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, config string
		env          []string
	}{
		{"syntax", "[safe]\ndirectory = *\n[x\n", nil},
		{"syntax of an included file", "[safe]\ndirectory = *\n[include]\npath = broken\n", nil},
		{"circle", "[safe]\ndirectory = *\n[include]\npath = .gitconfig\n", nil},
		{"directory", "[safe]\ndirectory = *\n[include]\npath = dir\n", nil},
		{"unknown user", "[safe]\ndirectory = *\n[include]\npath = ~no-such-user-here/x\n", nil},
		{"count", "[safe]\ndirectory = *\n", []string{"GIT_CONFIG_COUNT=x"}},
		{"missing value", "[safe]\ndirectory = *\n", []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b"}},
		{"parameters", "[safe]\ndirectory = *\n", []string{"GIT_CONFIG_PARAMETERS='a.b"}},
		{"relative include by the command", "[safe]\ndirectory = *\n", []string{"GIT_CONFIG_PARAMETERS='include.path'='x'"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			appendFile(t, filepath.Join(home, ".gitconfig"), test.config)
			appendFile(t, filepath.Join(home, "broken"), "[\n")
			appendFile(t, filepath.Join(home, "dir", "file"), "")
			if got, err := gitdir.SafeDirectories(append(append(plainEnv(home), "GIT_CONFIG_NOSYSTEM=1"), test.env...)); err == nil {
				t.Errorf("SafeDirectories: %q, want an error", got)
			}
		})
	}
}

func TestAllows(t *testing.T) {
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	top := filepath.Join(home, "a", "checkout")
	appendFile(t, filepath.Join(top, "file"), "")
	appendFile(t, filepath.Join(home, "bin", "git"), "")
	if err := os.Chmod(filepath.Join(home, "bin", "git"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	env := []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin")}
	for value, want := range map[string]bool{
		"*":                            true,
		top:                            true,
		top + "/":                      true,
		home + "/a/../a/checkout":      true,
		"~/a/checkout":                 true,
		"%(prefix)/a/checkout":         true,
		"%(prefix)/" + top:             true,
		home + "/*":                    true,
		"~/a/*":                        true,
		"%(prefix)/*":                  true,
		top + "/*":                     false,
		home + "/a/check*":             false,
		home + "/a":                    false,
		home + "/missing":              false,
		home + "/missing/*":            false,
		".":                            false,
		"checkout":                     false,
		"~no-such-user-here/checkout":  false,
		"~":                            false,
		"%(prefix)":                    false,
		home + "/a/checkout/../..":     false,
		strings.TrimSuffix(top, "out"): false,
	} {
		if got := gitdir.Allows(env, value, top); got != want {
			t.Errorf("%q allows %s: %v, want %v", value, top, got, want)
		}
	}
	if gitdir.Allows(nil, "~/a/checkout", top) {
		t.Error(`"~/" is expanded without a home directory`)
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

// FuzzSafeDirectories checks that a configuration is parsed or refused, and that an empty value
// from the command discards it.
func FuzzSafeDirectories(f *testing.F) {
	f.Add("'safe.directory'='/a'")
	f.Add(`'a.b'='it'\''s' 'safe.directory=/a'`)
	f.Add("'x'= 'y'")
	f.Add("'")
	f.Fuzz(func(t *testing.T, parameters string) {
		env := []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=", "GIT_CONFIG_PARAMETERS=" + parameters + " 'safe.directory='"}
		if got, err := gitdir.SafeDirectories(env); err == nil && len(got) > 0 {
			t.Errorf("SafeDirectories = %q after a reset", got)
		}
	})
}
