package gitexec

import (
	"bufio"
	"context"
	"io"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/cotterpin/cotter/internal/git/gitwire"
)

// sshAsks is how a server is asked for version 2 of git's protocol.
type sshAsks uint8

const (
	asksUnknown sshAsks = iota
	// asksByVariable sends GIT_PROTOCOL, as git does. Forges accept it.
	asksByVariable
	// asksByCommand sets the variable in the command: OpenSSH's server accepts none without a setting for it, but runs
	// the command in the user's shell.
	asksByCommand
	// asksInVain is for a server that answers in an older version to both.
	asksInVain
)

const (
	// beginsVersion2 is how an answer in version 2 begins.
	beginsVersion2 = "000eversion 2\n"
	// maxParked is what an unused session may still send, in bytes.
	maxParked = 64 << 10
)

// beginsOld reports whether an answer begins as in version 0: with the length of a line, and an object name.
func beginsOld(head []byte) bool {
	return len(head) == len(beginsVersion2) && strings.Trim(string(head), "0123456789abcdef") == ""
}

// SSHConn is a session of git-upload-pack on a server, by the user's ssh. The first ones of a run find out for the others how
// the server is asked for version 2.
type SSHConn struct {
	url  *url.URL
	link *sshLink // nil if the connection is not shared
	// again starts a session that asks by the command, and judge tells the other sessions what the server
	// understands. They are nil if that is known.
	again func() (*Process, error)
	judge func(sshAsks)
	begun bool
	out   *bufio.Reader

	mu      sync.Mutex
	process *Process
	owner   bool // the process has the connection that others share
	inVain  bool
	closed  bool
}

func newSSHConn(at *url.URL, p *Process, link *sshLink) *SSHConn {
	return &SSHConn{url: at, link: link, process: p, out: bufio.NewReader(p.Stdout)}
}

func (c *SSHConn) current() (p *Process, owner bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process, c.owner
}

func (c *SSHConn) Read(p []byte) (int, error) {
	if _, owner := c.current(); !c.begun && (owner || c.judge != nil) {
		c.begin()
	}
	return c.out.Read(p)
}

// begin judges the first bytes of the server, and lets those begin that share the connection: ssh has created its socket
// before.
func (c *SSHConn) begin() {
	head, _ := c.out.Peek(len(beginsVersion2)) // the next Read returns the error
	if len(head) == 0 {
		return
	}
	c.begun = true
	switch {
	case c.judge == nil:
	case string(head) == beginsVersion2:
		c.judge(asksByVariable)
	case beginsOld(head):
		c.askAgain()
	}
	if c.link != nil {
		c.link.settle(nil)
	}
}

// askAgain continues with a session in which the command asks for version 2.
func (c *SSHConn) askAgain() {
	p, err := c.again()
	if err != nil {
		c.judge(asksInVain)
		return
	}
	if !c.change(p) {
		return
	}
	if head, _ := c.out.Peek(len(beginsVersion2)); string(head) == beginsVersion2 {
		c.judge(asksByCommand)
		return
	}
	c.judge(asksInVain)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inVain = true
}

// change replaces the session, unless the connection was closed meanwhile.
func (c *SSHConn) change(p *Process) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		p.Kill()
		return false
	}
	if c.link != nil {
		go park(c.process, c.link)
		c.link.sessions.Add(1)
	} else {
		c.process.Kill()
	}
	c.process, c.owner, c.out = p, false, bufio.NewReader(p.Stdout)
	return true
}

func (c *SSHConn) Write(p []byte) (int, error) {
	process, _ := c.current()
	return process.Stdin.Write(p)
}

// Wait waits for the end of ssh. For a reason that git would have as well, the error wraps a sentinel of
// package git.
func (c *SSHConn) Wait() error {
	p, owner := c.current()
	defer time.AfterFunc(killDelay, func() { p.cancel(ErrIdle) }).Stop()
	err := p.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inVain {
		return gitwire.ErrOldProtocol
	}
	if !isTemporary(err) && !says(err, saysDropped) { // otherwise git tries again
		err = explain(c.url, err)
	}
	if owner {
		c.link.end(err)
	}
	return err
}

// Close leaves a connection open that others can share.
func (c *SSHConn) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	if c.owner && c.link.works() {
		go park(c.process, c.link)
		return
	}
	c.process.Kill()
	if c.owner {
		c.link.end(context.Canceled)
	} else if c.link != nil {
		c.link.leave()
	}
}

// park waits until the process of a shared connection ends. A server that still sends much is cut off.
func park(p *Process, link *sshLink) {
	if n, _ := io.Copy(io.Discard, io.LimitReader(p.Stdout, maxParked)); n == maxParked {
		_ = p.Stdout.Close()
		_ = p.Stdin.Close()
	}
	link.end(errEnded)
	_ = p.Wait()
}

// Kill ends the connection, also for those who share it.
func (c *SSHConn) Kill() {
	if c.link != nil {
		c.link.end(errEnded)
		c.link.kill()
	}
	p, _ := c.current()
	p.Kill()
}
