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

// TestBuiltInSSHConfig fetches from host aliases in ~/.ssh/config. The built-in client
// uses a server in this process; git uses OpenSSH, if ssh is installed. TestBuiltInSSH
// covers the built-in client with OpenSSH.
func TestBuiltInSSHConfig(t *testing.T) {
	t.Parallel()
	t.Run("built in", func(t *testing.T) {
		t.Parallel()
		testBuiltInSSHConfig(t, newGoSSH(t), false)
	})
	t.Run("git", func(t *testing.T) {
		t.Parallel()
		if _, err := exec.LookPath("ssh"); err != nil {
			t.Skip("ssh is not installed")
		}
		testBuiltInSSHConfig(t, newSSHServer(t), true)
	})
}

func testBuiltInSSHConfig(t *testing.T, s *sshServer, git bool) {
	t.Helper()
	r := newGitRepo(t, t.TempDir(), "net.git")
	commit := r.commit("main", gitFile{path: "main.tf", content: "x"})
	host, port, err := net.SplitHostPort(s.address)
	if err != nil {
		t.Fatal(err)
	}
	server := fmt.Sprintf("  HostName %s\n  Port %s\n  User %s\n", host, port, s.user)
	withKey := server + "  IdentityFile HOME/.ssh/deploy\n"
	agent := serveAgent(t, newSSHKey(t), s.client)

	for _, tt := range []struct {
		name   string
		config string
		files  map[string]string // more files in .ssh
		agent  string
		want   error
		says   string
		// alone is what the error without git says, for what only git's ssh does. noGit says that git is
		// not tried.
		alone string
		noGit bool
	}{
		{name: "alias", config: "Host forge\n" + withKey},
		{name: "Match blocks", config: "Match host elsewhere exec \"exit 1\"\n  HostName 192.0.2.1\nHost forge\n" + withKey, alone: "Match"},
		{name: "Match blocks, with an equals sign", config: "Match=host elsewhere\n  HostName 192.0.2.1\nHost forge\n" + withKey, alone: "Match"},
		{name: "included, with a tab", config: "include\tHOME/.ssh/more\n", files: map[string]string{"more": "Host forge\n" + withKey}, alone: "include"},
		{name: "included", config: "Include HOME/.ssh/more\n", files: map[string]string{"more": "Host forge\n" + withKey}, alone: "Include"},
		{name: "key of the host", config: "Host forge\n  HostKeyAlias known\n" + withKey, files: map[string]string{"known_hosts": knownhosts.Line([]string{"known"}, s.ed25519.signer.PublicKey()) + "\n"}, alone: "HostKeyAlias"},
		{name: "alias is not known", config: "Host forge\n" + withKey, files: map[string]string{"known_hosts": knownhosts.Line([]string{"forge"}, s.ed25519.signer.PublicKey()) + "\n"}, want: getmodules.ErrHostUntrusted, says: s.address},
		{name: "no default keys", config: "Host forge\n" + server + "  IdentityFile HOME/.ssh/none\n", files: map[string]string{"id_ed25519": string(s.client.pem)}, want: getmodules.ErrAuthentication},
		{name: "agent", config: "Host forge\n" + server + "  IdentityAgent " + agent + "\n", alone: "IdentityAgent"},
		{name: "named key of agent", config: "Host forge\n" + server + "  IdentitiesOnly yes\n  IdentityFile HOME/.ssh/named\n", files: map[string]string{"named": lockedClientFile(t)}, agent: agent, alone: "passphrase"},
		{name: "public key of agent", config: "Host forge\n" + server + "  IdentitiesOnly yes\n  IdentityFile HOME/.ssh/named.pub\n", files: map[string]string{"named.pub": s.client.line() + "\n"}, agent: agent, alone: "no key to offer"},
		{name: "no key of agent", config: "Host forge\n" + server + "  IdentitiesOnly yes\n  IdentityFile HOME/.ssh/none\n", agent: agent, want: getmodules.ErrAuthentication},
		{name: "proxy", config: "Host forge\n  ProxyJump none\n" + withKey},
		{name: "jump host", config: "Host forge\n  ProxyJump bastion\n" + withKey, noGit: true, alone: "ProxyJump"},
		{name: "proxy command", config: "Host *\n  ProxyCommand nc %h %p\nHost forge\n" + withKey, noGit: true, alone: "ProxyCommand"},
	} {
		if git && tt.noGit {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
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
			env := []string{"HOME=" + home, "SSH_AUTH_SOCK=" + tt.agent}
			f := newBuiltInFetcher(t, env...)
			if git {
				f = newGitFetcher(t, append(env, sshOf(t, home))...)
			}
			pkg, _, err := fetchGit(t, f, req)
			switch {
			case !git && tt.alone != "":
				if err == nil || !strings.Contains(err.Error(), tt.alone) || !strings.Contains(err.Error(), "install") {
					t.Errorf("FetchGit without git = %v, want %q and the advice to install git", err, tt.alone)
				}
			case tt.want == nil && (err != nil || pkg.Revision != commit):
				t.Errorf("FetchGit = %+v, %v, want %s", pkg, err, commit)
			case !errors.Is(err, tt.want):
				t.Errorf("FetchGit = %v, want %v", err, tt.want)
			case err != nil && !git && !strings.Contains(err.Error(), tt.says):
				t.Errorf("FetchGit = %q, want %q in it", err, tt.says)
			}
		})
	}
}

// sshOf returns the variable that makes git run ssh with the configuration in home,
// because ssh ignores HOME. It also makes the keys readable for their owner only, as ssh
// requires.
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
