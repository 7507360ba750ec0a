package inprocess

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"time"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/cotterpin/cotter/internal/httpx"
)

// idle is the window over which the rate of a server is measured. It is long because the server
// may have to pack a large repository first.
const idle = 2 * time.Minute

// Stream is a [Transport] over connections on which the list, a request and its answer follow
// each other. [SSH] and [Daemon] use it.
type Stream struct {
	// MinRate is the minimum rate of a conversation, in bytes per second; see httpx.Floor.
	MinRate int64
	// dial connects to a host and starts git-upload-pack.
	dial func(ctx context.Context, minRate int64) (*conn, error)
	// listed is a connection on which only the list was read; nil if there is none.
	listed *conn
}

// Refs implements [Transport]. It starts a new conversation.
func (s *Stream) Refs(ctx context.Context, read func(io.Reader) error) error {
	if err := s.Close(); err != nil {
		return err
	}
	c, err := s.dial(ctx, s.MinRate)
	if err != nil {
		return err
	}
	if err := read(c); err != nil {
		return errors.Join(c.explain(err), c.Close())
	}
	s.listed = c
	return nil
}

// Ask implements [Transport]. It continues the conversation that Refs started, or starts
// another one.
func (s *Stream) Ask(ctx context.Context, request []byte, read func(io.Reader) error) error {
	if s.listed == nil {
		err := s.Refs(ctx, func(list io.Reader) error {
			_, err := readRefs(list)
			return err
		})
		if err != nil {
			return err
		}
	}
	c := s.listed
	s.listed = nil
	c.watch.guard.Restart()
	_, err := c.in.Write(request)
	if err == nil {
		err = read(c)
	}
	if err != nil {
		return errors.Join(c.explain(err), c.Close())
	}
	return c.Close()
}

// Close ends the conversation, if there is one.
func (s *Stream) Close() error {
	if s.listed == nil {
		return nil
	}
	c := s.listed
	s.listed = nil
	// With an empty list of wanted objects, a client says that it wants nothing. Errors are
	// ignored, because the server may already have closed the connection.
	_, _ = io.WriteString(c.in, "0000")
	return c.Close()
}

// conn is a connection to a git-upload-pack.
type conn struct {
	in  io.Writer
	out io.Reader
	// said returns the server's standard error after the connection ended; nil if the transport
	// has none.
	said  func() string
	watch *watch
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.out.Read(p)
	c.watch.guard.Add(n)
	return n, err
}

func (c *conn) Close() error { return c.watch.close() }

// explain returns the cause of an error of reading.
func (c *conn) explain(err error) error {
	if cause := c.watch.cause(); cause != nil {
		return cause
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err // the connection is still open
	}
	if c.said != nil {
		if text := c.said(); text != "" {
			return failure(Refused, "the server says %s", printable(text))
		}
	}
	return &Error{Kind: Unreachable, Message: "the server ended the connection", Err: err}
}

// watch closes a connection when its context ends, or when the rate is too low.
type watch struct {
	ctx   context.Context
	raw   net.Conn
	guard *httpx.Guard
	stop  func() bool
}

func watchConn(ctx context.Context, raw net.Conn, minRate int64) *watch {
	w := &watch{ctx: ctx, raw: raw}
	guarded, guard := httpx.Floor{PerSecond: minRate, Window: idle}.Watch(ctx)
	w.guard = guard
	w.stop = context.AfterFunc(guarded, func() { _ = raw.Close() })
	return w
}

// cause returns the reason why watch closed the connection; nil if it did not.
func (w *watch) cause() error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if err := w.guard.Err(); err != nil {
		return &Error{Kind: Unreachable, Message: "the connection was closed", Err: err}
	}
	return nil
}

// close closes the connection. It may already be closed.
func (w *watch) close() error {
	w.stop()
	w.guard.Stop()
	if err := w.raw.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// daemonPort is the port of git's own protocol; see git-daemon(1).
const daemonPort = "9418"

// Daemon returns the transport for git:// addresses.
func Daemon(u *url.URL) *Stream {
	return &Stream{dial: func(ctx context.Context, minRate int64) (*conn, error) {
		raw, err := dial(ctx, net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), daemonPort)))
		if err != nil {
			return nil, err
		}
		w := watchConn(ctx, raw, minRate)
		c := &conn{in: raw, out: raw, watch: w}
		ask := packp.GitProtoRequest{RequestCommand: "git-upload-pack", Pathname: u.Path, Host: u.Host}
		if err := ask.Encode(raw); err != nil {
			_ = w.close()
			return nil, c.explain(err)
		}
		return c, nil
	}}
}

// dial connects to an address of the form host:port.
func dial(ctx context.Context, address string) (net.Conn, error) {
	var d net.Dialer
	raw, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, &Error{Kind: Unreachable, Message: "there is no connection", Err: err}
	}
	return raw, nil
}
