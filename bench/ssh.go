package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cotterpin/cotter/bench/internal/report"
	"github.com/cotterpin/cotter/modtest"
)

const (
	sshRepositories = 20
	// sshRoundTrip is added to a message over ssh and its answer.
	sshRoundTrip = 40 * time.Millisecond
)

func sshMeasured() world {
	plain := cold
	plain.name = "cold, plain sshd"
	return world{
		name:  "ssh",
		about: fmt.Sprintf("%d calls of %d packages in git, over ssh", sshRepositories, sshRepositories),
		notes: []string{
			fmt.Sprintf("The server is a real sshd. A proxy in front of it delays all bytes, so that a round trip takes %d ms.", sshRoundTrip.Milliseconds()),
			"It accepts GIT_PROTOCOL, like those of forges. A plain sshd has no setting for that.",
			"Requests and received bytes are not counted, because they are encrypted.",
		},
		parts: []part{
			{start: startSSH, phases: []phase{cold, warm, again}},
			{start: startPlainSSH, phases: []phase{plain}},
		},
		goals: []report.Goal{report.Faster(cold.name, 8), report.Faster(plain.name, 5), report.Faster(warm.name, 40), report.Faster(again.name, 1)},
	}
}

// sshServers have a real sshd behind a proxy.
type sshServers struct {
	moduleServers
	// accept is a line of sshd's configuration; "" in a plain sshd.
	accept string
	dir    string
	sshd   *exec.Cmd
	proxy  net.Listener
	wait   atomic.Int64 // the time of a round trip, in nanoseconds
}

// startSSH needs git and OpenSSH.
func startSSH() (servers, error) { return startSSHWith("AcceptEnv GIT_PROTOCOL\n") }

func startPlainSSH() (servers, error) { return startSSHWith("") }

func startSSHWith(accept string) (servers, error) {
	dir, err := os.MkdirTemp("", "bench-ssh-")
	if err != nil {
		return nil, err
	}
	s := &sshServers{accept: accept, dir: dir}
	if err := s.start(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *sshServers) start() error {
	var config strings.Builder
	config.WriteString("-- config/main.tf --\n")
	for i := range sshRepositories {
		name := fmt.Sprintf("p%d.git", i)
		if err := s.makeRepository(name, i); err != nil {
			return err
		}
		fmt.Fprintf(&config, "module \"m%d\" {\n  source = \"git::ssh://forge%s?ref=v1.0.0\"\n}\n", i, filepath.ToSlash(filepath.Join(s.dir, name)))
	}
	world, err := modtest.Start(modtest.Txtar(config.String()), modtest.Options{})
	if err != nil {
		return err
	}
	s.World = world
	address, err := s.startSSHD()
	if err != nil {
		return err
	}
	if s.proxy, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return err
	}
	go s.serve(address)
	return s.writeClientConfig()
}

// makeRepository creates a bare repository with one module, tagged v1.0.0.
func (s *sshServers) makeRepository(name string, seed int) error {
	tree := filepath.Join(s.dir, "tree")
	if err := os.MkdirAll(tree, 0o755); err != nil {
		return err
	}
	files := map[string]string{"main.tf": fmt.Sprintf("output \"n\" {\n  value = %d\n}\n", seed), "README.md": filler(16<<10, seed)}
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(tree, file), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "--bare"}, {"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-m", "x"}, {"tag", "v1.0.0"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_DIR="+filepath.Join(s.dir, name), "GIT_WORK_TREE="+tree, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		if args[0] == "init" {
			cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1")
			cmd.Args = append(cmd.Args, filepath.Join(s.dir, name))
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

func (s *sshServers) startSSHD() (address string, err error) {
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		if sshd, err = exec.LookPath("/usr/sbin/sshd"); err != nil {
			return "", err
		}
	}
	for _, name := range []string{"host_key", "user_key"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(s.dir, name)).CombinedOutput(); err != nil {
			return "", fmt.Errorf("ssh-keygen: %w: %s", err, out)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address = l.Addr().String()
	_ = l.Close() // most likely, nobody takes the port before sshd
	_, port, _ := net.SplitHostPort(address)
	config := fmt.Sprintf("Port %s\nListenAddress 127.0.0.1\nHostKey %[2]s/host_key\nAuthorizedKeysFile %[2]s/user_key.pub\nAuthenticationMethods publickey\n"+
		"StrictModes no\nUsePAM no\nMaxStartups 100\nPidFile none\n%[3]sSetEnv SHLVL=1 HOME=%[2]s\n", port, s.dir, s.accept)
	if err := os.WriteFile(filepath.Join(s.dir, "sshd_config"), []byte(config), 0o600); err != nil {
		return "", err
	}
	if os.Geteuid() == 0 {
		// A service manager normally creates this directory.
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			return "", err
		}
	}
	s.sshd = exec.Command(sshd, "-D", "-e", "-f", filepath.Join(s.dir, "sshd_config"))
	stderr, err := s.sshd.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := s.sshd.Start(); err != nil {
		return "", err
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "Server listening") {
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return address, nil
		}
	}
	return "", errors.New("sshd does not start")
}

func (s *sshServers) writeClientConfig() error {
	key, err := os.ReadFile(filepath.Join(s.dir, "host_key.pub"))
	if err != nil {
		return err
	}
	who, err := user.Current()
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(s.proxy.Addr().String())
	config := fmt.Sprintf("Host forge\n  HostName 127.0.0.1\n  Port %s\n  User %s\n  IdentityFile %[3]s/user_key\n  IdentitiesOnly yes\n  IdentityAgent none\n  UserKnownHostsFile %[3]s/known_hosts\n", port, who.Username, s.dir)
	fields := strings.Fields(string(key))
	return errors.Join(
		os.WriteFile(filepath.Join(s.dir, "known_hosts"), fmt.Appendf(nil, "[127.0.0.1]:%s %s %s\n", port, fields[0], fields[1]), 0o600),
		os.WriteFile(filepath.Join(s.dir, "ssh_config"), []byte(config), 0o600),
	)
}

// serve passes connections on to sshd.
func (s *sshServers) serve(address string) {
	for {
		client, err := s.proxy.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", address)
		if err != nil {
			_ = client.Close()
			continue
		}
		go s.pass(server, client)
		go s.pass(client, server)
	}
}

// pass delays each byte by half of a round trip.
func (s *sshServers) pass(to, from net.Conn) {
	type part struct {
		bytes []byte
		due   time.Time
	}
	parts := make(chan part, 1000)
	var running sync.WaitGroup
	running.Go(func() {
		defer func() { _ = to.Close() }()
		for p := range parts {
			time.Sleep(time.Until(p.due))
			if _, err := to.Write(p.bytes); err != nil {
				break
			}
		}
		for range parts { // until the other side ends
		}
	})
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			parts <- part{append([]byte(nil), buf[:n]...), time.Now().Add(time.Duration(s.wait.Load()) / 2)}
		}
		if err != nil {
			break
		}
	}
	close(parts)
	running.Wait()
}

func (s *sshServers) Wait(d time.Duration) {
	if d > 0 {
		d = sshRoundTrip
	}
	s.wait.Store(int64(d))
}

func (s *sshServers) Env() []string {
	return append(s.World.Env(), "GIT_SSH_COMMAND=ssh -F "+filepath.Join(s.dir, "ssh_config"))
}

func (s *sshServers) Close() error {
	var err error
	if s.World != nil {
		err = s.World.Close()
	}
	if s.proxy != nil {
		err = errors.Join(err, s.proxy.Close())
	}
	if s.sshd != nil && s.sshd.Process != nil {
		err = errors.Join(err, s.sshd.Process.Kill())
		_ = s.sshd.Wait() // says that it was killed
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
