package getmodules_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/cotterpin/cotter/internal/testenv"
)

// onlyGitCommands is an option of a server that runs only commands of git as they are, like git-shell, gitolite and others.
const onlyGitCommands = `ForceCommand case "$SSH_ORIGINAL_COMMAND" in git-upload-pack*) eval "$SSH_ORIGINAL_COMMAND";; *) echo "fatal: unrecognized command" >&2; exit 128;; esac`

type sshKey struct {
	pem    []byte
	signer ssh.Signer
}

func newSSHKey(t testing.TB) sshKey {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	testenv.Must(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	testenv.Must(t, err)
	signer, err := ssh.NewSignerFromKey(private)
	testenv.Must(t, err)
	return sshKey{pem.EncodeToMemory(block), signer}
}

// line returns the public key in the format of authorized_keys.
func (k sshKey) line() string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k.signer.PublicKey())))
}

// sshServer is an ssh server that accepts one key and runs the commands that clients ask for.
type sshServer struct {
	address, user string
	host          sshKey
	client, other sshKey // the key that it accepts, and another one
	dir           string // holds the keys and configuration files
	// logins is the number of connections on which a user has logged in.
	logins atomic.Int32
	// left gets a value when a client leaves.
	left chan struct{}
}

// knows returns the line of known_hosts for the server.
func (s *sshServer) knows() string {
	return knownhosts.Line([]string{knownhosts.Normalize(s.address)}, s.host.signer.PublicKey())
}

// newSSHServer starts a real sshd for each connection, for the user who runs the test. Clients have to be
// given their configuration file, because ssh does not look for one in HOME. Commands run with HOME set to the
// server's directory and with SHLVL set, which keeps bash from reading the user's .bashrc: some of those
// files take longer than the rest of a test. OpenSSH's default key exchange does as well. The server accepts
// GIT_PROTOCOL, like those of forges, if no option has another AcceptEnv.
func newSSHServer(t *testing.T, options ...string) *sshServer {
	t.Helper()
	sshd := findSSHD(t)
	who, err := user.Current()
	testenv.Must(t, err)
	if !slices.ContainsFunc(options, func(option string) bool { return strings.HasPrefix(option, "AcceptEnv") }) {
		options = append(options, "AcceptEnv GIT_PROTOCOL")
	}
	s := &sshServer{
		user: who.Username, host: newSSHKey(t), client: newSSHKey(t), other: newSSHKey(t),
		dir: t.TempDir(), left: make(chan struct{}, 100),
	}
	s.write(t, "sshd_config", fmt.Sprintf(`HostKey %[1]s/host_key
AuthorizedKeysFile %[1]s/authorized_keys
AuthenticationMethods publickey
StrictModes no
UsePAM no
SetEnv HOME=%[1]s SHLVL=1
KexAlgorithms curve25519-sha256
LogLevel INFO
%[2]s
`, s.dir, strings.Join(options, "\n")))
	s.address = serveByProgram(t, func() *exec.Cmd {
		cmd := exec.Command(sshd, "-i", "-e", "-f", s.file("sshd_config"))
		cmd.Stderr = sshLog{s}
		return cmd
	})
	for name, text := range map[string]string{
		"host_key": string(s.host.pem), "user_key": string(s.client.pem), "other_key": string(s.other.pem),
		"authorized_keys": s.client.line() + "\n", "known_hosts": s.knows() + "\n",
	} {
		s.write(t, name, text)
	}
	return s
}

// sshLog counts what sshd says.
type sshLog struct{ *sshServer }

func (s sshLog) Write(p []byte) (int, error) {
	s.logins.Add(int32(bytes.Count(p, []byte("Accepted publickey"))))
	if bytes.Contains(p, []byte("Disconnected from user")) {
		select {
		case s.left <- struct{}{}:
		default: // no test counts them
		}
	}
	return len(p), nil
}

// findSSHD looks for sshd in PATH and in /usr/sbin, where Debian installs it and which is
// not in most users' PATH.
func findSSHD(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"sshd", "/usr/sbin/sshd"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if os.Geteuid() == 0 {
			// sshd needs this directory, which a service manager would normally create.
			testenv.Must(t, os.MkdirAll("/run/sshd", 0o755))
		}
		if path, err = filepath.Abs(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Skip("sshd is not installed")
	return ""
}

// withKey returns lines of an ssh configuration with which a client knows the server and has the right key.
func (s *sshServer) withKey() string {
	return "  UserKnownHostsFile " + s.file("known_hosts") + "\n  IdentityFile " + s.file("user_key") + "\n"
}

// clientConfig writes an ssh configuration with the host "forge" as an alias of the
// server. It returns the environment variable that makes git use it.
func (s *sshServer) clientConfig(t *testing.T, more string) string {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "ssh_config")
	_, port, _ := strings.Cut(s.address, ":")
	text := fmt.Sprintf("Host forge\n  HostName 127.0.0.1\n  Port %s\n  User %s\nHost *\n  IdentitiesOnly yes\n  IdentityAgent none\n%s\n", port, s.user, more)
	testenv.Must(t, os.WriteFile(config, []byte(text), 0o600))
	return "GIT_SSH_COMMAND=ssh -F " + config
}

func (s *sshServer) file(name string) string { return filepath.Join(s.dir, name) }

func (s *sshServer) write(t *testing.T, name, text string) {
	t.Helper()
	testenv.Must(t, os.WriteFile(s.file(name), []byte(text), 0o600))
}
