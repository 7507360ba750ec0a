package gitexec_test

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/testenv"
)

// sshSetting is an address with settings of ssh.
type sshSetting struct {
	url, config string
	env         []string
	left        bool   // ssh is left to git
	has         string // an argument
}

// sshSettings returns cases for programs in a directory.
func sshSettings(dir string) map[string]sshSetting {
	const plain = "ssh://me@forge.example/acme/net.git"
	return map[string]sshSetting{
		"plain":                  {url: plain},
		"no user":                {url: "ssh://forge.example/acme/net.git"},
		"port":                   {url: "ssh://me@forge.example:2222/acme/net.git"},
		"escapes":                {url: "ssh://me%2Bx@forge.example/a%20b/it's%21.git"},
		"domain in the user":     {url: "ssh://me%40corp@forge.example/acme/net.git"},
		"home":                   {url: "ssh://me@forge.example/~other/net.git"},
		"IPv6":                   {url: "ssh://me@[2001:db8::1]:22/net.git"},
		"GIT_SSH_COMMAND":        {url: plain, env: []string{"GIT_SSH_COMMAND=ssh -F '/a b' -v"}},
		"simple GIT_SSH_COMMAND": {url: plain, env: []string{"GIT_SSH_COMMAND=" + dir + "/ssh"}},
		"core.sshCommand":        {url: plain, config: "[core]\n\tsshCommand = ssh -o User=me $HOME\n"},
		"includeIf":              {url: plain, config: "[includeIf \"hasconfig:remote.*.url:ssh://me@forge.example/acme/**\"]\n\tpath = " + dir + "/included\n", has: "IdentityFile=acme"},
		"both":                   {url: plain, config: "[core]\n\tsshCommand = false\n", env: []string{"GIT_SSH_COMMAND=ssh -4"}},
		"GIT_SSH":                {url: plain, env: []string{"GIT_SSH=" + dir + "/ssh"}},
		"GIT_SSH with a space":   {url: plain, env: []string{"GIT_SSH=" + dir + "/white space"}},
		"GIT_SSH by name":        {url: plain, env: []string{"GIT_SSH=wrapper"}},
		"GIT_SSH and a command":  {url: plain, config: "[core]\n\tsshCommand = ssh -6\n", env: []string{"GIT_SSH=false"}},
		"unknown program":        {url: plain, env: []string{"GIT_SSH_COMMAND=wrapper -x"}},
		"variable in a command":  {url: plain, env: []string{"GIT_SSH_COMMAND=A=b ssh"}},
		"asked for":              {url: plain, env: []string{"GIT_SSH_VARIANT=auto"}},
		"variant ssh":            {url: plain, config: "[ssh]\n\tvariant = ssh\n", env: []string{"GIT_SSH_COMMAND=wrapper"}},
		"variant of both":        {url: plain, config: "[ssh]\n\tvariant = plink\n", env: []string{"GIT_SSH_VARIANT=ssh"}},
		"variant plink":          {url: plain, config: "[ssh]\n\tvariant = plink\n", left: true},
		"variant simple":         {url: plain, env: []string{"GIT_SSH_VARIANT=simple"}, left: true},
		"plink":                  {url: plain, env: []string{"GIT_SSH=plink"}, left: true},
		"no ssh":                 {url: plain, env: []string{"GIT_ALLOW_PROTOCOL=https"}, left: true},
	}
}

// TestDialSSH compares the arguments and the environment that ssh gets with those that the installed git
// gives it, with the same settings.
func TestDialSSH(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "git")
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	// A stand-in for ssh, which answers nothing.
	record := `{ for arg; do printf '%s\n' "$arg"; done; test "$1" = -G || test "$2" = -G || echo "GIT_PROTOCOL=$GIT_PROTOCOL DIR=$GIT_DIR BATCH=$SSH_ASKPASS_REQUIRE"; } >>"$SEEN"`
	for _, name := range []string{"ssh", "wrapper", "plink", "white space"} {
		script(t, dir, name, record)
	}
	testenv.WriteFile(t, filepath.Join(dir, "included"), "[core]\n\tsshCommand = ssh -o IdentityFile=acme\n")
	script(t, dir, "simple", record+"\ncase $1 in -*) exit 1;; esac")
	for name, tt := range sshSettings(dir) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			user := userEnv(t, tt.config)
			u, err := url.Parse(tt.url)
			if err != nil {
				t.Fatal(err)
			}
			environment := func(seen string) []string {
				return slices.Concat([]string{"PATH=" + dir + ":" + os.Getenv("PATH"), "SEEN=" + seen}, user[1:], tt.env)
			}
			target := gitexec.Target{URL: u, Remote: tt.url}
			ours := &gitexec.Git{Env: environment(seen + name + "ours")}
			if reason := ours.SSHNotUsed(t.Context(), target); (reason != "") != tt.left {
				t.Fatalf("SSHNotUsed = %q, want %t", reason, tt.left)
			}
			if tt.left {
				return
			}
			conn, err := ours.DialSSH(t.Context(), target, "")
			if err != nil {
				t.Fatal(err)
			}
			if err := conn.Wait(); err != nil {
				t.Error(err)
			}
			theirs := &gitexec.Git{Env: environment(seen + name + "git")}
			network := &gitexec.Network{Protocols: []string{"ssh"}, Remote: tt.url}
			_ = theirs.Run(t.Context(), gitexec.Command{Args: []string{"ls-remote", target.Text()}, Network: network}) // nothing answers
			want, err := os.ReadFile(seen + name + "git")
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(seen + name + "ours")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
				t.Errorf("arguments and environment of ssh (-git +ours):\n%s", diff)
			}
			if !strings.Contains(string(got), tt.has) {
				t.Errorf("ssh gets %s, want %q", got, tt.has)
			}
		})
	}
}

// TestDialSSHRefuses checks that no address becomes an option of ssh.
func TestDialSSHRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mark := filepath.Join(dir, "ran")
	g := &gitexec.Git{Env: env("GIT_SSH_COMMAND=touch "+mark, "GIT_SSH_VARIANT=ssh", "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)}
	for _, u := range []*url.URL{
		{Scheme: "ssh", Host: "-oProxyCommand=x", Path: "/net.git"},
		{Scheme: "ssh", Host: "-F:22", Path: "/net.git"},
		{Scheme: "ssh", User: url.User("-oProxyCommand=x"), Host: "forge.example", Path: "/net.git"},
		{Scheme: "ssh", User: url.User("x/y"), Host: "forge.example", Path: "/net.git"},
		{Scheme: "ssh", Host: "forge.example", Path: "/--upload-pack=x"},
		{Scheme: "ssh", Host: "forge.example", Path: "/a\nb"},
		{Scheme: "ssh", Host: "", Path: "/net.git"},
		{Scheme: "https", Host: "forge.example", Path: "/net.git"},
	} {
		if _, err := g.DialSSH(t.Context(), gitexec.Target{URL: u}, ""); err == nil {
			t.Errorf("DialSSH(%q) = nil error", u)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("ssh ran")
	}
}
