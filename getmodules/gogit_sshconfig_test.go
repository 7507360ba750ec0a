package getmodules_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// TestBuiltInSSHConfig fetches by host aliases of ~/.ssh/config, and where ssh is
// installed compares with git.
func TestBuiltInSSHConfig(t *testing.T) {
	t.Parallel()
	t.Run("OpenSSH", func(t *testing.T) {
		t.Parallel()
		testBuiltInSSHConfig(t, newOpenSSH(t))
	})
	t.Run("in process", func(t *testing.T) {
		t.Parallel()
		testBuiltInSSHConfig(t, newGoSSH(t))
	})
}

func testBuiltInSSHConfig(t *testing.T, s *loginServer) {
	t.Helper()
	r := newGitRepo(t, t.TempDir(), "net.git")
	commit := r.commit("main", gitFile{path: "main.tf", content: "x"})
	host, port, err := net.SplitHostPort(s.address)
	if err != nil {
		t.Fatal(err)
	}
	server := fmt.Sprintf("  HostName %s\n  Port %s\n  User %s\n", host, port, s.user)
	withKey := server + "  IdentityFile HOME/.ssh/deploy\n"
	wrong, locked := newSSHKey(t, ""), encodeSSHKey(t, s.client.private, "secret")
	_, err = exec.LookPath("ssh")
	hasSSH := err == nil
	agent := serveAgent(t, wrong, s.client)

	for name, tt := range map[string]struct {
		config string
		files  map[string]string // further files in .ssh
		agent  string
		want   error
		says   string
		// builtIn says that git can do it, and not the built-in client.
		builtIn bool
	}{
		"alias":               {config: "Host forge\n" + withKey},
		"Match blocks":        {config: "Match host elsewhere exec \"exit 1\"\n  HostName 192.0.2.1\nHost forge\n" + withKey},
		"included":            {config: "Include HOME/.ssh/more\n", files: map[string]string{"more": "Host forge\n" + withKey}},
		"key of the host":     {config: "Host forge\n  HostKeyAlias known\n" + withKey, files: map[string]string{"known_hosts": knownhosts.Line([]string{"known"}, s.ed25519.signer.PublicKey()) + "\n"}},
		"alias is not known":  {config: "Host forge\n" + withKey, files: map[string]string{"known_hosts": knownhosts.Line([]string{"forge"}, s.ed25519.signer.PublicKey()) + "\n"}, want: getmodules.ErrHostUntrusted, says: s.address},
		"no default keys":     {config: "Host forge\n" + server + "  IdentityFile HOME/.ssh/none\n", files: map[string]string{"id_ed25519": string(s.client.pem)}, want: getmodules.ErrAuthentication},
		"agent":               {config: "Host forge\n" + server + "  IdentityAgent " + agent + "\n"},
		"named key of agent":  {config: "Host forge\n" + server + "  IdentitiesOnly yes\n  IdentityFile HOME/.ssh/named\n", files: map[string]string{"named": string(locked.pem)}, agent: agent},
		"public key of agent": {config: "Host forge\n" + server + "  IdentitiesOnly yes\n  IdentityFile HOME/.ssh/named.pub\n", files: map[string]string{"named.pub": s.client.line() + "\n"}, agent: agent},
		"no key of agent":     {config: "Host forge\n" + server + "  IdentitiesOnly yes\n  IdentityFile HOME/.ssh/none\n", agent: agent, want: getmodules.ErrAuthentication},
		"proxy":               {config: "Host forge\n  ProxyJump none\n" + withKey},
		"jump host":           {config: "Host forge\n  ProxyJump bastion\n" + withKey, builtIn: true, want: getmodules.ErrBuiltInGit, says: "ProxyJump"},
		"proxy command":       {config: "Host *\n  ProxyCommand nc %h %p\nHost forge\n" + withKey, builtIn: true, want: getmodules.ErrBuiltInGit, says: "ProxyCommand"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			files := map[string]string{"config": tt.config, "known_hosts": s.knows(s.ed25519) + "\n", "deploy": string(s.client.pem)}
			for name, text := range tt.files {
				files[name] = text
			}
			for name, text := range files {
				writeFile(t, filepath.Join(home, ".ssh", name), strings.ReplaceAll(text, "HOME", home))
			}
			req := getmodules.Request{Package: addrs.ParseModulePackage("git::ssh://forge" + r.dir)}
			check := func(client string, pkg *getmodules.Package, err error) {
				t.Helper()
				switch {
				case tt.want == nil && (err != nil || pkg.Revision != commit):
					t.Errorf("%s: FetchGit = %+v, %v, want %s", client, pkg, err, commit)
				case !errors.Is(err, tt.want):
					t.Errorf("%s: FetchGit = %v, want %v", client, err, tt.want)
				}
			}
			env := []string{"HOME=" + home, "SSH_AUTH_SOCK=" + tt.agent}
			pkg, _, err := fetchGit(t, newBuiltInFetcher(t, env...), req)
			check("built in", pkg, err)
			if err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("FetchGit = %q, want %q in it", err, tt.says)
			}
			if hasSSH && !tt.builtIn {
				pkg, _, err := fetchGit(t, newGitFetcher(t, append(env, sshOf(t, home))...), req)
				check("git", pkg, err)
			}
		})
	}
}

// sshOf is the setting that has git run ssh as if the account had this home
// directory: ssh does not look at HOME. Its keys are readable for their owner
// alone, or ssh would refuse them.
func sshOf(t *testing.T, home string) string {
	t.Helper()
	dir := filepath.Join(home, ".ssh")
	for _, name := range []string{"deploy", "named"} {
		if err := os.Chmod(filepath.Join(dir, name), 0o600); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return "GIT_SSH_COMMAND=ssh -F " + filepath.Join(dir, "config") + " -o BatchMode=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile=" + filepath.Join(dir, "known_hosts")
}
