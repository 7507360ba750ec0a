package getmodules_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

type sshKey struct {
	private any
	pem     []byte
	signer  ssh.Signer
}

func newSSHKey(t testing.TB) sshKey {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return encodeSSHKey(t, private)
}

var generatedRSA = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func newRSAKey(t testing.TB) sshKey {
	t.Helper()
	private, err := generatedRSA()
	if err != nil {
		t.Fatal(err)
	}
	return encodeSSHKey(t, private)
}

// generatedClient is the key of all clients. lockedClient is the same key in a file with a
// passphrase. Both are made once, because encrypting the key takes longer than a fetch.
var (
	generatedClient = sync.OnceValues(func() (ed25519.PrivateKey, error) {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		return private, err
	})
	lockedClient = sync.OnceValues(func() (*pem.Block, error) {
		private, err := generatedClient()
		if err != nil {
			return nil, err
		}
		return ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("secret"))
	})
)

func newClientKey(t testing.TB) sshKey {
	t.Helper()
	private, err := generatedClient()
	if err != nil {
		t.Fatal(err)
	}
	return encodeSSHKey(t, private)
}

// lockedClientFile returns the client's private key file, encrypted with a passphrase.
func lockedClientFile(t testing.TB) string {
	t.Helper()
	block, err := lockedClient()
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block))
}

func encodeSSHKey(t testing.TB, private any) sshKey {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return sshKey{private, pem.EncodeToMemory(block), signer}
}

// line returns the public key in the format of authorized_keys.
func (k sshKey) line() string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k.signer.PublicKey())))
}

// loginServer is an ssh server that accepts one key and runs the commands that clients ask
// for.
type loginServer struct {
	address, user string
	rsa, ed25519  sshKey // host keys
	client        sshKey
}

func (s *loginServer) knows(host sshKey) string {
	return knownhosts.Line([]string{knownhosts.Normalize(s.address)}, host.signer.PublicKey())
}

func newSSHKeys(t testing.TB) *loginServer {
	t.Helper()
	return &loginServer{rsa: newRSAKey(t), ed25519: newSSHKey(t), client: newClientKey(t)}
}

func newOpenSSH(t *testing.T) *loginServer {
	t.Helper()
	sshd := findSSHD(t)
	s := newSSHKeys(t)
	dir := t.TempDir()
	files := map[string]string{
		"rsa": string(s.rsa.pem), "ed25519": string(s.ed25519.pem), "authorized": s.client.line() + "\n",
	}
	// HOME and SHLVL are explained at newSSHServer. OpenSSH's default key exchange takes
	// longer than the rest of a connection.
	config := "SetEnv HOME=" + dir + " SHLVL=1\nKexAlgorithms curve25519-sha256\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPidFile none\nAcceptEnv GIT_PROTOCOL\nPermitRootLogin prohibit-password\n" +
		"AuthorizedKeysFile " + dir + "/authorized\nHostKey " + dir + "/rsa\nHostKey " + dir + "/ed25519\n"
	files["config"] = config
	for name, text := range files {
		writeFile(t, filepath.Join(dir, name), text)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s.user = me.Username
	s.address = serveByProgram(t, func() *exec.Cmd { return exec.Command(sshd, "-i", "-f", dir+"/config") })
	return s
}

// newGoSSH starts an ssh server in this process, which works on every machine.
func newGoSSH(t testing.TB) *loginServer {
	t.Helper()
	s := newSSHKeys(t)
	s.user = "git"
	allowed := string(s.client.signer.PublicKey().Marshal())
	config := &ssh.ServerConfig{
		PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if c.User() != s.user || string(key.Marshal()) != allowed {
				return nil, os.ErrPermission
			}
			return nil, nil
		},
	}
	config.AddHostKey(s.ed25519.signer)
	config.AddHostKey(s.rsa.signer)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	t.Cleanup(func() { _ = listener.Close() })
	running.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { serveSSH(c, config) })
		}
	})
	s.address = listener.Addr().String()
	return s
}

func serveSSH(c net.Conn, config *ssh.ServerConfig) {
	defer c.Close()
	_, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for channel := range channels {
		session, asked, err := channel.Accept()
		if err != nil {
			return
		}
		protocol := ""
		for request := range asked {
			var variable struct{ Name, Value string }
			if request.Type == "env" && ssh.Unmarshal(request.Payload, &variable) == nil && variable.Name == "GIT_PROTOCOL" {
				protocol = variable.Value
				_ = request.Reply(true, nil)
				continue
			}
			if request.Type != "exec" {
				_ = request.Reply(false, nil)
				continue
			}
			var command struct{ Text string }
			if err := ssh.Unmarshal(request.Payload, &command); err != nil {
				return
			}
			_ = request.Reply(true, nil)
			runForSSH(session, command.Text, protocol)
		}
	}
}

func runForSSH(session ssh.Channel, command, protocol string) {
	defer session.Close()
	cmd := exec.Command("sh", "-c", command)
	cmd.Env = append(os.Environ(), "GIT_PROTOCOL="+protocol)
	cmd.Stdout, cmd.Stderr = session, session.Stderr()
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return
	}
	go copyAndClose(in, session)
	status := struct{ Status uint32 }{}
	if err := cmd.Wait(); err != nil {
		status.Status = uint32(max(1, cmd.ProcessState.ExitCode()))
	}
	_, _ = session.SendRequest("exit-status", false, ssh.Marshal(&status))
}
