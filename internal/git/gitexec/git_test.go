package gitexec_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestFind(t *testing.T) {
	t.Parallel()
	good := filepath.Dir(fakeGit(t, "", "echo good"))
	dir := t.TempDir()
	mark := filepath.Join(dir, "ran")
	script(t, dir, "git", "touch "+mark)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(here, dir)
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Join([]string{"", ".", relative, "/does/not/exist", good}, string(os.PathListSeparator))
	g := &gitexec.Git{Env: []string{"PATH=" + path}}
	if got := run(t, g, gitexec.Command{Args: []string{"x"}}); got != "good\n" {
		t.Errorf("git wrote %q, want that of the one in an absolute directory", got)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a git in a relative directory ran")
	}
	for _, g := range []*gitexec.Git{
		{Env: []string{"PATH=" + relative}},
		{Env: []string{}},
		{Path: filepath.Join(relative, "git")},
		{Path: filepath.Join(dir, "none")},
	} {
		if err := g.Run(t.Context(), gitexec.Command{Args: []string{"x"}}); !errors.Is(err, gitexec.ErrNoGit) {
			t.Errorf("Run of the git at %q in %q = %v, want ErrNoGit", g.Path, g.Env, err)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	tests := []struct {
		body string
		ok   bool
	}{
		{"echo git version 2.26.0", true},
		{"echo git version 2.39.5 '(Apple Git-154)'", true},
		{"echo git version 2.47.1.windows.1", true},
		{"echo git version 3.0", true},
		{"echo git version 2.25.9", false},
		{"echo git version 1.99.0", false},
		{"echo git version x.y", false},
		{"echo git version 99999999999999999999.1", false},
		{"echo hub version 2.30", false},
		{"exit 0", false},
		{"echo git version 2.30; exit 1", false},
		{"head -c 1000000 /dev/zero", false},
	}
	for _, tt := range tests {
		t.Run(tt.body, func(t *testing.T) {
			t.Parallel()
			g := &gitexec.Git{Path: script(t, t.TempDir(), "git", tt.body), Env: env()}
			err := g.Run(t.Context(), gitexec.Command{Args: []string{"version"}})
			if tt.ok && err != nil || !tt.ok && !errors.Is(err, gitexec.ErrNoGit) {
				t.Errorf("Run = %v, want success %v, else ErrNoGit", err, tt.ok)
			}
		})
	}
}

// One process asks a program for its version once, however many use it, and again after it was replaced.
func TestVersionOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	body := `case "$*" in *version) echo asked >> ` + filepath.Join(dir, "log") + `; echo git version 2.40.1;; esac`
	use := func(want string) {
		g := &gitexec.Git{Path: filepath.Join(dir, "git"), Env: env()}
		testenv.Must(t, g.Run(t.Context(), gitexec.Command{Args: []string{"init"}}))
		asked, err := os.ReadFile(filepath.Join(dir, "log"))
		testenv.Must(t, err)
		if diff := cmp.Diff(want, string(asked)); diff != "" {
			t.Errorf("requests for the version (-want +got):\n%s", diff)
		}
	}
	script(t, dir, "git", body)
	use("asked\n")
	use("asked\n")
	script(t, dir, "git", body+"\n# a newer one")
	use("asked\nasked\n")
}

// The user's configuration is read by another process, which a command that sends no requests does not need.
func TestConfigOnlyForRequests(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		command gitexec.Command
		want    string
	}{
		"in a repository": {gitexec.Command{Args: []string{"rev-parse"}, Repo: "/repo"}, "rev-parse\n"},
		"in a checkout":   {gitexec.Command{Args: []string{"diff-files"}, Repo: "/repo", WorkTree: "/", Network: &gitexec.Network{}}, "diff-files\n"},
		"to a server":     {gitexec.Command{Args: []string{"fetch"}, Network: &gitexec.Network{}}, "-z\nfetch\n"},
	} {
		log := filepath.Join(t.TempDir(), "log")
		git := script(t, t.TempDir(), "git", "for last; do :; done\ncase $last in version) echo git version 2.40.1;; *) echo $last >> "+log+";; esac")
		testenv.Must(t, (&gitexec.Git{Path: git, Env: env()}).Run(t.Context(), test.command))
		started, err := os.ReadFile(log)
		testenv.Must(t, err)
		if diff := cmp.Diff(test.want, string(started)); diff != "" {
			t.Errorf("%s: the last arguments of what was started (-want +got):\n%s", name, diff)
		}
	}
}

func TestRealGit(t *testing.T) {
	t.Parallel()
	var g gitexec.Git
	err := g.Run(t.Context(), gitexec.Command{Args: []string{"version"}})
	if errors.Is(err, gitexec.ErrNoGit) {
		t.Skip("git is not installed")
	}
	if err != nil {
		t.Fatal(err)
	}
	repo := filepath.Join(t.TempDir(), "r")
	if err := g.Run(t.Context(), gitexec.Command{Args: []string{"init", "--quiet", "--bare", "--template="}, Repo: repo}); err != nil {
		t.Fatal(err)
	}
	c := gitexec.Command{Args: []string{"config", "--list", "--show-origin"}, Repo: repo}
	for line := range strings.Lines(run(t, &g, c)) {
		if !strings.HasPrefix(line, "command line:") && !strings.HasPrefix(line, "file:"+repo) {
			t.Errorf("the reading phase takes configuration from elsewhere: %q", line)
		}
	}
}
