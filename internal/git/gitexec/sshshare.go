package gitexec

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cotterpin/cotter/internal/disk/filelock"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/process/singleflight"
)

const (
	// maxSessions is the default of OpenSSH's server.
	maxSessions = 10
	// maxSocket bounds the path of a socket: systems allow 104 bytes, and ssh first appends 17.
	maxSocket = 104 - 18
	// maxParked is what an unused session may still send, in bytes.
	maxParked = 64 << 10
)

// SSHConn is a session of git-upload-pack on a server, by the user's ssh.
type SSHConn struct {
	url     *url.URL
	process *Process
	link    *sshLink // nil if the connection is not shared
	owner   bool     // the process has the connection that others share
	closed  sync.Once
}

func (d *sshDial) dial(ctx context.Context) (*SSHConn, error) {
	links := singleflight.For(ctx, &d.git.sshLinks)
	if !links.open(ctx) || !d.sharable(ctx) {
		return d.dialAlone(ctx)
	}
	link, isNew := links.join(d.identity)
	if isNew {
		return d.dialLink(ctx, link)
	}
	select {
	case <-link.ready:
	case <-ctx.Done():
		link.leave()
		return nil, context.Cause(ctx)
	}
	switch {
	case link.err == nil:
	case isSSHVerdict(link.err):
		link.leave()
		return nil, link.err // ssh would say the same again
	default:
		link.leave()
		return d.dialAlone(ctx)
	}
	p, err := d.start(ctx, "-o", "ControlMaster=no", "-o", "ControlPath="+link.socket)
	if err != nil {
		link.leave()
		return nil, err
	}
	return &SSHConn{url: d.url, process: p, link: link}, nil
}

func (d *sshDial) dialAlone(ctx context.Context) (*SSHConn, error) {
	p, err := d.start(ctx)
	if err != nil {
		return nil, err
	}
	return &SSHConn{url: d.url, process: p}, nil
}

// dialLink makes a connection that others can share. It outlives the context, but not this process, whose
// end of the pipe ssh reads.
func (d *sshDial) dialLink(ctx context.Context, link *sshLink) (*SSHConn, error) {
	p, err := d.start(context.WithoutCancel(ctx), "-o", "ControlMaster=yes", "-o", "ControlPath="+link.socket, "-o", "ControlPersist=no")
	if err != nil {
		link.settle(err)
		return nil, err
	}
	link.process.Store(p)
	return &SSHConn{url: d.url, process: p, link: link, owner: true}, nil
}

// sharable reports whether the user's settings leave sharing to us, and whether this is OpenSSH.
func (d *sshDial) sharable(ctx context.Context) bool {
	config, err := d.config(ctx)
	if err != nil {
		return false
	}
	master, path := config["controlmaster"], config["controlpath"]
	return (master == "false" || master == "no") && (path == "" || path == "none")
}

func (c *SSHConn) Read(p []byte) (int, error) {
	n, err := c.process.Stdout.Read(p)
	if n > 0 && c.owner {
		c.link.settle(nil) // ssh has created the socket before it started the session
	}
	return n, err
}

func (c *SSHConn) Write(p []byte) (int, error) { return c.process.Stdin.Write(p) }

// Wait waits for the end of ssh. For a reason that git would have as well, the error wraps a sentinel of
// package git.
func (c *SSHConn) Wait() error {
	defer time.AfterFunc(killDelay, func() { c.process.cancel(ErrIdle) }).Stop()
	err := c.process.Wait()
	if !isTemporary(err) && !says(err, saysDropped) { // otherwise git tries again
		err = explain(c.url, err)
	}
	if c.owner {
		c.link.end(err)
	}
	return err
}

// Close leaves a connection open that others can share.
func (c *SSHConn) Close() {
	c.closed.Do(func() {
		if c.owner && c.link.works() {
			go c.park()
			return
		}
		c.process.Kill()
		if c.owner {
			c.link.end(context.Canceled)
		} else if c.link != nil {
			c.link.leave()
		}
	})
}

// park waits until the connection ends. A server that still sends much is cut off.
func (c *SSHConn) park() {
	if n, _ := io.Copy(io.Discard, io.LimitReader(c.process.Stdout, maxParked)); n == maxParked {
		_ = c.process.Stdout.Close()
		_ = c.process.Stdin.Close()
	}
	c.link.end(errEnded)
	_ = c.process.Wait()
}

// Kill ends the connection, also for those who share it.
func (c *SSHConn) Kill() {
	if c.link != nil {
		c.link.end(errEnded)
		c.link.kill()
	}
	c.process.Kill()
}

var errEnded = errors.New("the shared connection of ssh has ended")

// isSSHVerdict reports whether the error is not about one repository.
func isSSHVerdict(err error) bool {
	return errors.Is(err, git.ErrAuthentication) || errors.Is(err, git.ErrHostUntrusted) || errors.Is(err, git.ErrHostUnreachable)
}

// sshLinks are shared by the sessions of a run.
type sshLinks struct {
	mu    sync.Mutex
	begun bool
	dir   string // the private directory of the sockets; "" if nothing is shared
	// remove removes dir.
	remove func()
	links  map[sshIdentity][]*sshLink
	made   int
}

// open reports whether connections can be shared, and will be closed at the end of the run.
func (l *sshLinks) open(ctx context.Context) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun {
		return l.dir != ""
	}
	l.begun = true
	dir, remove, err := filelock.MkdirTemp("cotter-ssh-")
	if err != nil {
		return false
	}
	// ssh replaces "%" and "~", and splits at spaces.
	simple := strings.Trim(dir, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+") == ""
	if !simple || !filepath.IsAbs(dir) || len(dir)+4 > maxSocket || !singleflight.OnClose(ctx, l.close) {
		remove()
		return false
	}
	l.dir, l.remove, l.links = dir, remove, map[sshIdentity][]*sshLink{}
	return true
}

func (l *sshLinks) join(identity sshIdentity) (link *sshLink, isNew bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, link := range l.links[identity] {
		if link.enter() {
			return link, false
		}
	}
	l.made++
	link = &sshLink{socket: filepath.Join(l.dir, strconv.Itoa(l.made)), ready: make(chan struct{})}
	link.enter()
	l.links[identity] = append(l.links[identity], link)
	return link, true
}

func (l *sshLinks) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var running sync.WaitGroup
	for _, links := range l.links {
		for _, link := range links {
			running.Go(link.kill)
		}
	}
	running.Wait()
	l.remove()
	l.dir, l.links = "", nil
}

type sshLink struct {
	socket string
	// ready is closed when the connection works, or has failed with err.
	ready chan struct{}
	err   error

	settled  sync.Once
	ended    atomic.Bool
	sessions atomic.Int32
	process  atomic.Pointer[Process] // has the first session
}

func (l *sshLink) kill() {
	if p := l.process.Load(); p != nil {
		p.Kill()
	}
}

// enter adds a session, up to maxSessions.
func (l *sshLink) enter() bool {
	if l.ended.Load() {
		return false
	}
	if l.sessions.Add(1) > maxSessions {
		l.leave()
		return false
	}
	return true
}

func (l *sshLink) leave() { l.sessions.Add(-1) }

func (l *sshLink) works() bool {
	select {
	case <-l.ready:
		return !l.ended.Load()
	default:
		return false
	}
}

// settle says once that the connection works, or why it does not.
func (l *sshLink) settle(err error) {
	l.settled.Do(func() {
		l.err = err
		l.ended.Store(err != nil)
		close(l.ready)
	})
}

// end says that the connection has ended: with err, if it has never worked.
func (l *sshLink) end(err error) {
	l.settle(cmp.Or(err, errEnded))
	l.ended.Store(true)
}
