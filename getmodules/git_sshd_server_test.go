package getmodules_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// sshServer is a real sshd on the loopback interface. It accepts one key, for the user who
// runs the test.
type sshServer struct {
	dir  string // holds the keys and configuration files
	user string
	port int
	key  []byte // the private key that the server accepts

	// logins is the number of connections on which a user has logged in.
	logins atomic.Int32
	// left gets a value when a client leaves.
	left chan struct{}
}

// newSSHServer starts a server. Clients have to be given their configuration file, because
// ssh does not look for one in HOME. Commands run with HOME set to the server's directory
// and with SHLVL set, which keeps bash from reading the user's .bashrc: some of those
// files take longer than the rest of a test.
func newSSHServer(t *testing.T, options ...string) *sshServer {
	t.Helper()
	sshd := findSSHD(t)
	s := &sshServer{dir: t.TempDir(), port: freePort(t), left: make(chan struct{}, 100)}
	who, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s.user = who.Username
	for _, name := range []string{"host_key", "user_key", "other_key"} {
		run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", s.file(name))
	}
	s.key = s.read(t, "user_key")
	s.write(t, "authorized_keys", string(s.read(t, "user_key.pub")))
	s.write(t, "sshd_config", fmt.Sprintf(`Port %d
ListenAddress 127.0.0.1
HostKey %s
AuthorizedKeysFile %s
AuthenticationMethods publickey
StrictModes no
UsePAM no
MaxStartups 100
PidFile none
AcceptEnv GIT_PROTOCOL
SetEnv HOME=%s SHLVL=1
KexAlgorithms curve25519-sha256
LogLevel INFO
%s
`, s.port, s.file("host_key"), s.file("authorized_keys"), s.dir, strings.Join(options, "\n")))
	host := strings.Fields(string(s.read(t, "host_key.pub")))
	s.write(t, "known_hosts", fmt.Sprintf("[127.0.0.1]:%d %s %s\n", s.port, host[0], host[1]))
	s.start(t, sshd)
	return s
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
			if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if path, err = filepath.Abs(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Skip("sshd is not installed")
	return ""
}

// start starts the server and waits until it reports that it is listening.
func (s *sshServer) start(t *testing.T, sshd string) {
	t.Helper()
	cmd := exec.Command(sshd, "-D", "-e", "-f", s.file("sshd_config"))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(stderr)
	var said []string
	for lines.Scan() {
		if said = append(said, lines.Text()); strings.HasPrefix(lines.Text(), "Server listening") {
			go func() {
				for lines.Scan() {
					if strings.Contains(lines.Text(), "Accepted publickey") {
						s.logins.Add(1)
					}
					if strings.Contains(lines.Text(), "Disconnected from user") {
						select {
						case s.left <- struct{}{}:
						default: // no test counts them
						}
					}
				}
			}()
			return
		}
	}
	t.Fatalf("sshd ended: %q", said)
}

// clientConfig writes an ssh configuration with the host "forge" as an alias of the
// server. It returns the environment variable that makes git use it.
func (s *sshServer) clientConfig(t *testing.T, more string) string {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "ssh_config")
	text := fmt.Sprintf("Host forge\n  HostName 127.0.0.1\n  Port %d\n  User %s\nHost *\n  IdentitiesOnly yes\n  IdentityAgent none\n%s\n", s.port, s.user, more)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "GIT_SSH_COMMAND=ssh -F " + config
}

func (s *sshServer) file(name string) string { return filepath.Join(s.dir, name) }

func (s *sshServer) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(s.file(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *sshServer) read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(s.file(name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// freePort returns a port that is most likely unused.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
