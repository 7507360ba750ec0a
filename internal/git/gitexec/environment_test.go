package gitexec_test

import (
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git/gitexec"
)

// hostile returns an environment with all the variables that must not reach git.
func hostile(extra ...string) []string {
	return append(env(
		"HOME=/home/user", "GIT_DIR=/x", "GIT_WORK_TREE=/x", "GIT_INDEX_FILE=/x", "GIT_OBJECT_DIRECTORY=/x",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=/x", "GIT_NAMESPACE=x", "GIT_SHALLOW_FILE=/x", "GIT_GRAFT_FILE=/x",
		"GIT_REPLACE_REF_BASE=x", "GIT_TEMPLATE_DIR=/x", "GIT_QUARANTINE_PATH=/x", "GIT_PROTOCOL=version=0",
		"GIT_CONFIG_COUNT=0", "GIT_CONFIG_GLOBAL=/user", "SSH_ASKPASS=/x", "LC_ALL=de_DE.UTF-8", "GIT_TERMINAL_PROMPT=1",
	), extra...)
}

func variables(t *testing.T, g *gitexec.Git, c gitexec.Command) map[string]string {
	t.Helper()
	vars := map[string]string{}
	for line := range strings.Lines(run(t, g, c)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if _, twice := vars[name]; twice {
			t.Errorf("%s is set twice", name)
		}
		vars[name] = value
	}
	return vars
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	git := fakeGit(t, "", "env")
	always := map[string]string{
		"LC_ALL": "C", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_LFS_SKIP_SMUDGE": "1", "GIT_TERMINAL_PROMPT": "0",
		"GCM_INTERACTIVE": "never", "SSH_ASKPASS_REQUIRE": "never", "GIT_DIR": "/repo",
		"GIT_WORK_TREE": "", "GIT_INDEX_FILE": "", "GIT_OBJECT_DIRECTORY": "", "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
		"GIT_NAMESPACE": "", "GIT_SHALLOW_FILE": "", "GIT_GRAFT_FILE": "", "GIT_REPLACE_REF_BASE": "",
		"GIT_TEMPLATE_DIR": "", "GIT_QUARANTINE_PATH": "", "GIT_PROTOCOL": "", "SSH_ASKPASS": "",
	}
	tests := []struct {
		name    string
		network *gitexec.Network
		want    map[string]string
	}{
		{"reading", nil, map[string]string{
			"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "HOME": "/dev/null", "GIT_CONFIG_COUNT": "",
			"GIT_ALLOW_PROTOCOL": "none", "GIT_SSH_COMMAND": "",
		}},
		{"network", &gitexec.Network{Protocols: []string{"https", "ssh"}, PacketTrace: "/trace"}, map[string]string{
			"GIT_CONFIG_GLOBAL": "/user", "HOME": "/home/user", "GIT_CONFIG_COUNT": "0", "GIT_CONFIG_NOSYSTEM": "",
			"GIT_ALLOW_PROTOCOL": "https:ssh", "GIT_TRACE_PACKET": "/trace", "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := &gitexec.Git{Path: git, Env: hostile()}
			got := variables(t, g, gitexec.Command{Args: []string{"x"}, Repo: "/repo", Network: tt.network})
			for _, want := range []map[string]string{always, tt.want} {
				for name, value := range want {
					if got[name] != value {
						t.Errorf("%s=%q, want %q", name, got[name], value)
					}
				}
			}
		})
	}
}

// TestNoRepository tests that git looks for no repository around the working directory.
func TestNoRepository(t *testing.T) {
	t.Parallel()
	g := &gitexec.Git{Path: fakeGit(t, "", "env"), Env: hostile()}
	for _, network := range []*gitexec.Network{nil, {}} {
		if got := variables(t, g, gitexec.Command{Args: []string{"x"}, Network: network})["GIT_DIR"]; got != "/dev/null" {
			t.Errorf("GIT_DIR=%q with network %v", got, network)
		}
	}
}

func TestAllowedProtocols(t *testing.T) {
	t.Parallel()
	git := fakeGit(t, "", "env")
	tests := []struct{ own, ask, want string }{
		{"", "https ssh", "https:ssh"},
		{"ssh:ext", "https ssh", "ssh"},
		{"ext", "https ssh", "none"},
		{"https", "", "none"},
	}
	for _, tt := range tests {
		g := &gitexec.Git{Path: git, Env: env("GIT_ALLOW_PROTOCOL=" + tt.own)}
		c := gitexec.Command{Args: []string{"x"}, Network: &gitexec.Network{Protocols: strings.Fields(tt.ask)}}
		if got := variables(t, g, c)["GIT_ALLOW_PROTOCOL"]; got != tt.want {
			t.Errorf("with GIT_ALLOW_PROTOCOL=%q and %q = %q, want %q", tt.own, tt.ask, got, tt.want)
		}
	}
}

// TestDirectProtocols checks protocols that may be used for the user's own addresses, but
// not for addresses that a server points to. Only git's settings can make that
// distinction, so GIT_ALLOW_PROTOCOL is left unset unless the user has set it.
func TestDirectProtocols(t *testing.T) {
	t.Parallel()
	network := &gitexec.Network{Protocols: []string{"https"}, Direct: []string{"http"}}
	for own, want := range map[string]string{"": "", "http:ext": "http", "ssh": "none"} {
		g := &gitexec.Git{Path: fakeGit(t, "", "env"), Env: env("GIT_ALLOW_PROTOCOL=" + own)}
		if got := variables(t, g, gitexec.Command{Args: []string{"x"}, Network: network})["GIT_ALLOW_PROTOCOL"]; got != want {
			t.Errorf("with GIT_ALLOW_PROTOCOL=%q it is %q, want %q", own, got, want)
		}
	}
	g := &gitexec.Git{Path: fakeGit(t, "", `printf '%s\n' "$@"`), Env: env()}
	args := run(t, g, gitexec.Command{Args: []string{"show"}, Network: network})
	for _, want := range []string{"protocol.allow=never", "protocol.https.allow=always", "protocol.http.allow=user", "protocol.ext.allow=never"} {
		if !strings.Contains(args, "-c\n"+want+"\n") {
			t.Errorf("%s is not set", want)
		}
	}
}

func TestSSHCommand(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, config, env, key string
		interactive            bool
		want                   string
	}{
		{"ours", "", "", "", false, "ssh -o BatchMode=yes"},
		{"ours with a key", "", "", "/a b/it's", false, `ssh -o BatchMode=yes -i '/a b/it'\''s'`},
		{"interactive", "", "", "", true, "ssh"},
		{"of the configuration", "myssh -v", "", "", false, "myssh -v"},
		{"of the environment", "myssh -v", "GIT_SSH_COMMAND=other", "", false, "other"},
		{"of the environment with a key", "", "GIT_SSH_COMMAND=other", "/k", false, "other -i '/k'"},
		{"a program", "", "GIT_SSH=/plink", "", false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := &gitexec.Git{Path: fakeGit(t, tt.config, "env"), Env: env(tt.env), Interactive: tt.interactive}
			c := gitexec.Command{Args: []string{"x"}, Network: &gitexec.Network{SSHKeyFile: tt.key}}
			if got := variables(t, g, c)["GIT_SSH_COMMAND"]; got != tt.want {
				t.Errorf("GIT_SSH_COMMAND = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	g := &gitexec.Git{Path: fakeGit(t, "", `printf '%s\n' "$@"`), Env: env()}
	reading := run(t, g, gitexec.Command{Args: []string{"show", "a b"}})
	network := run(t, g, gitexec.Command{Args: []string{"show", "a b"}, Network: &gitexec.Network{ConfigFile: "/c"}})
	for _, want := range []string{"core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false", "protocol.ext.allow=never"} {
		if !strings.Contains(reading, "-c\n"+want+"\n") || !strings.Contains(network, "-c\n"+want+"\n") {
			t.Errorf("%s is not set", want)
		}
	}
	for _, want := range []string{
		"protocol.version=2", "transfer.fsckObjects=true", "fetch.fsckObjects=true", "transfer.bundleURI=false",
		"fetch.recurseSubmodules=false", "fetch.unpackLimit=1", "include.path=/c",
	} {
		if !strings.Contains(network, "-c\n"+want+"\n") {
			t.Errorf("%s is not set on the network", want)
		}
	}
	if !strings.HasSuffix(reading, "\nshow\na b\n") || !strings.HasSuffix(network, "\nshow\na b\n") {
		t.Errorf("the arguments do not stand last: %q, %q", reading, network)
	}
	if i, j := strings.Index(network, "include.path"), strings.Index(network, "protocol.version"); i > j {
		t.Error("the further file comes after our settings, and would win")
	}
}
