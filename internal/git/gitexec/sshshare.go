package gitexec

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cotterpin/cotter/internal/disk/filelock"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitwire"
	"github.com/cotterpin/cotter/internal/process/singleflight"
)

const (
	// maxSessions is the default of OpenSSH's server.
	maxSessions = 10
	// maxSocket bounds the path of a socket: systems allow 104 bytes, and ssh first appends 17.
	maxSocket = 104 - 18
)

func (d *sshDial) dial(ctx context.Context) (*SSHConn, error) {
	links := singleflight.For(ctx, &d.git.sshLinks)
	if !links.open(ctx) || !d.sharable(ctx) {
		return d.dialAlone(ctx, links)
	}
	link, isNew := links.join(d.identity)
	if isNew {
		return d.dialLink(ctx, links, link)
	}
	select {
	case <-link.ready:
	case <-ctx.Done():
		link.leave()
		return nil, context.Cause(ctx)
	}
	asks := links.asks(d.identity)
	switch {
	case link.err == nil && asks == asksInVain:
		link.leave()
		return nil, gitwire.ErrOldProtocol
	case link.err == nil:
	case isSSHVerdict(link.err):
		link.leave()
		return nil, link.err // ssh would say the same again
	default:
		link.leave()
		return d.dialAlone(ctx, links)
	}
	p, err := d.startOn(ctx, link, asks)
	if err != nil {
		link.leave()
		return nil, err
	}
	return newSSHConn(d.url, p, link), nil
}

// dialAlone leaves it to the user's settings whether connections are shared.
func (d *sshDial) dialAlone(ctx context.Context, links *sshLinks) (*SSHConn, error) {
	asks := links.asks(d.identity)
	if asks == asksInVain {
		return nil, gitwire.ErrOldProtocol
	}
	p, err := d.startOn(ctx, nil, asks)
	if err != nil {
		return nil, err
	}
	return d.probe(ctx, links, asks, newSSHConn(d.url, p, nil)), nil
}

// dialLink makes a connection that others can share. It outlives the context, but not this process, whose
// end of the pipe ssh reads.
func (d *sshDial) dialLink(ctx context.Context, links *sshLinks, link *sshLink) (*SSHConn, error) {
	asks := links.asks(d.identity)
	p, err := d.start(context.WithoutCancel(ctx), asks, "-o", "ControlMaster=yes", "-o", "ControlPath="+link.socket, "-o", "ControlPersist=no")
	if err != nil {
		link.settle(err)
		return nil, err
	}
	link.process.Store(p)
	c := d.probe(ctx, links, asks, newSSHConn(d.url, p, link))
	c.owner = true
	return c, nil
}

// probe makes a connection find out how the server is asked, for all sessions after it, unless that is known.
func (d *sshDial) probe(ctx context.Context, links *sshLinks, asks sshAsks, c *SSHConn) *SSHConn {
	if asks == asksUnknown {
		c.again = func() (*Process, error) { return d.startOn(ctx, c.link, asksByCommand) }
		c.judge = func(asks sshAsks) { links.setAsks(d.identity, asks) }
	}
	return c
}

// startOn starts a session on a connection, or on its own one if link is nil.
func (d *sshDial) startOn(ctx context.Context, link *sshLink, asks sshAsks) (*Process, error) {
	if link == nil {
		return d.start(ctx, asks)
	}
	return d.start(ctx, asks, "-o", "ControlMaster=no", "-o", "ControlPath="+link.socket)
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
	known  map[sshIdentity]sshAsks
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

// asks returns what the server has shown in this run.
func (l *sshLinks) asks(identity sshIdentity) sshAsks {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known[identity]
}

func (l *sshLinks) setAsks(identity sshIdentity, asks sshAsks) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[sshIdentity]sshAsks{}
	}
	l.known[identity] = asks
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
	// ready is closed when the connection works and it is known how to ask the server, or when it has failed with err.
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
