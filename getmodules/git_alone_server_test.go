package getmodules_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// serveByProgram listens on a free port and, like inetd, starts a program for each
// connection, with the connection as its input and output. It returns the address.
func serveByProgram(t testing.TB, command func() *exec.Cmd) string {
	t.Helper()
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
			running.Go(func() { serveConn(t, c, command()) })
		}
	})
	return listener.Addr().String()
}

func serveConn(t testing.TB, c net.Conn, cmd *exec.Cmd) {
	defer c.Close()
	file, err := c.(*net.TCPConn).File()
	if err != nil {
		t.Error(err)
		return
	}
	defer file.Close()
	cmd.Stdin, cmd.Stdout = file, file
	_ = cmd.Run() // the client sees its failures
}

// newGitDaemon serves the repositories below root over the git protocol.
func newGitDaemon(t testing.TB, root string) (address string) {
	t.Helper()
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Skip("git is not installed")
	}
	if _, err := os.Stat(filepath.Join(strings.TrimSpace(string(path)), "git-daemon")); err != nil {
		t.Skip("git daemon is not installed")
	}
	return serveByProgram(t, func() *exec.Cmd {
		cmd := exec.Command("git", "daemon", "--inetd", "--export-all", "--base-path="+root)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1"}
		return cmd
	})
}

func copyAndClose(to io.WriteCloser, from io.Reader) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
}
