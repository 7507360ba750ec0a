package gitexec_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git/gitexec"
)

// hostile returns an environment with all the variables that must not reach git.
func hostile() []string {
	return env(
		"HOME=/home/user", "GIT_DIR=/x", "GIT_WORK_TREE=/x", "GIT_INDEX_FILE=/x", "GIT_OBJECT_DIRECTORY=/x",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=/x", "GIT_NAMESPACE=x", "GIT_SHALLOW_FILE=/x", "GIT_GRAFT_FILE=/x",
		"GIT_REPLACE_REF_BASE=x", "GIT_TEMPLATE_DIR=/x", "GIT_QUARANTINE_PATH=/x", "GIT_PROTOCOL=version=0",
		"GIT_CONFIG_COUNT=0", "GIT_CONFIG_GLOBAL=/user", "SSH_ASKPASS=/x", "LC_ALL=de_DE.UTF-8", "GIT_TERMINAL_PROMPT=1",
	)
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
	always := map[string]string{
		"LC_ALL": "C", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_LFS_SKIP_SMUDGE": "1", "GIT_TERMINAL_PROMPT": "0",
		"GCM_INTERACTIVE": "never", "SSH_ASKPASS_REQUIRE": "never", "GIT_DIR": "/repo",
		"GIT_WORK_TREE": "", "GIT_INDEX_FILE": "", "GIT_OBJECT_DIRECTORY": "", "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
		"GIT_NAMESPACE": "", "GIT_SHALLOW_FILE": "", "GIT_GRAFT_FILE": "", "GIT_REPLACE_REF_BASE": "",
		"GIT_TEMPLATE_DIR": "", "GIT_QUARANTINE_PATH": "", "GIT_PROTOCOL": "", "SSH_ASKPASS": "",
	}
	reading := map[string]string{
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "HOME": "/dev/null", "GIT_CONFIG_COUNT": "",
		"GIT_ALLOW_PROTOCOL": "none", "GIT_SSH_COMMAND": "",
	}
	network := map[string]string{
		"GIT_CONFIG_GLOBAL": "/user", "HOME": "/home/user", "GIT_CONFIG_COUNT": "0", "GIT_CONFIG_NOSYSTEM": "",
		"GIT_ALLOW_PROTOCOL": "https:ssh", "GIT_TRACE_PACKET": "/trace", "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
	}
	maps.Copy(reading, always)
	maps.Copy(network, always)
	noRepository := map[string]string{"GIT_DIR": "/dev/null"} // git looks for none around the working directory
	protocols := func(want string) map[string]string { return map[string]string{"GIT_ALLOW_PROTOCOL": want} }
	ssh := func(want string) map[string]string { return map[string]string{"GIT_SSH_COMMAND": want} }
	both := []string{"https", "ssh"}
	// Direct protocols may be used for the user's own addresses, but not for those that a server points to. Only
	// git's settings can make that distinction.
	direct := &gitexec.Network{Protocols: []string{"https"}, Direct: []string{"http"}}
	for name, tt := range map[string]struct {
		config      string // core.sshCommand
		env         []string
		interactive bool
		repo        string
		network     *gitexec.Network
		want        map[string]string // "" is for variables that are not set
	}{
		"reading":                       {env: hostile(), repo: "/repo", want: reading},
		"network":                       {env: hostile(), repo: "/repo", network: &gitexec.Network{Protocols: both, PacketTrace: "/trace"}, want: network},
		"reading outside a repository":  {env: hostile(), want: noRepository},
		"network outside a repository":  {env: hostile(), network: &gitexec.Network{}, want: noRepository},
		"protocols":                     {env: env("GIT_ALLOW_PROTOCOL="), network: &gitexec.Network{Protocols: both}, want: protocols("https:ssh")},
		"protocols of the user":         {env: env("GIT_ALLOW_PROTOCOL=ssh:ext"), network: &gitexec.Network{Protocols: both}, want: protocols("ssh")},
		"other protocols of the user":   {env: env("GIT_ALLOW_PROTOCOL=ext"), network: &gitexec.Network{Protocols: both}, want: protocols("none")},
		"no protocols":                  {env: env("GIT_ALLOW_PROTOCOL=https"), network: &gitexec.Network{}, want: protocols("none")},
		"direct":                        {env: env("GIT_ALLOW_PROTOCOL="), network: direct, want: protocols("")},
		"direct, allowed by the user":   {env: env("GIT_ALLOW_PROTOCOL=http:ext"), network: direct, want: protocols("http")},
		"direct, forbidden by the user": {env: env("GIT_ALLOW_PROTOCOL=ssh"), network: direct, want: protocols("none")},
		"ssh":                           {env: env(), network: &gitexec.Network{}, want: ssh("ssh -o BatchMode=yes")},
		"ssh with a key":                {env: env(), network: &gitexec.Network{SSHKeyFile: "/a b/it's"}, want: ssh(`ssh -o BatchMode=yes -i '/a b/it'\''s'`)},
		"interactive ssh":               {env: env(), interactive: true, network: &gitexec.Network{}, want: ssh("ssh")},
		"ssh of the configuration":      {config: "myssh -v", env: env(), network: &gitexec.Network{}, want: ssh("myssh -v")},
		"ssh of both":                   {config: "myssh -v", env: env("GIT_SSH_COMMAND=other"), network: &gitexec.Network{}, want: ssh("other")},
		"ssh of the user with a key":    {env: env("GIT_SSH_COMMAND=other"), network: &gitexec.Network{SSHKeyFile: "/k"}, want: ssh("other -i '/k'")},
		"ssh as a program":              {env: env("GIT_SSH=/plink"), network: &gitexec.Network{}, want: ssh("")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &gitexec.Git{Path: fakeGit(t, tt.config, "env"), Env: tt.env, Interactive: tt.interactive}
			got := variables(t, g, gitexec.Command{Args: []string{"x"}, Repo: tt.repo, Network: tt.network})
			for name, value := range tt.want {
				if got[name] != value {
					t.Errorf("%s=%q, want %q", name, got[name], value)
				}
			}
		})
	}
}

// TestSettings checks the settings in git's arguments, which stand before those of the command.
func TestSettings(t *testing.T) {
	t.Parallel()
	always := []string{"core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false", "protocol.ext.allow=never"}
	for name, tt := range map[string]struct {
		network *gitexec.Network
		want    []string
	}{
		"reading": {},
		"network": {&gitexec.Network{ConfigFile: "/c"}, []string{
			"include.path=/c", // before our settings, which win
			"protocol.version=2", "transfer.fsckObjects=true", "fetch.fsckObjects=true", "transfer.bundleURI=false",
			"fetch.recurseSubmodules=false", "fetch.unpackLimit=1",
		}},
		"direct protocols": {&gitexec.Network{Protocols: []string{"https"}, Direct: []string{"http"}}, []string{
			"protocol.allow=never", "protocol.https.allow=always", "protocol.http.allow=user",
		}},
	} {
		g := &gitexec.Git{Path: fakeGit(t, "", `printf '%s\n' "$@"`), Env: env()}
		args := run(t, g, gitexec.Command{Args: []string{"show", "a b"}, Network: tt.network})
		if !strings.HasSuffix(args, "\nshow\na b\n") {
			t.Errorf("%s: the arguments do not stand last: %q", name, args)
		}
		at := 0
		for _, want := range append(always, tt.want...) {
			next := strings.Index(args, "-c\n"+want+"\n")
			if next < at {
				t.Errorf("%s: %s is not set, or not in this order", name, want)
			}
			at = max(at, next)
		}
	}
}
