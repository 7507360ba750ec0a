package gitwire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/cotterpin/cotter/internal/net/httpx"
)

// Conn is a connection to a git-upload-pack that was asked for version 2.
type Conn interface {
	io.Reader
	io.Writer
	// Wait returns why a connection has ended; nil if it has not failed.
	Wait() error
	Close()
	// Kill ends a stalled connection.
	Kill()
}

// UploadPack returns the command for an ssh server. It is quoted in the form that servers with a list of allowed
// commands know from git. The path of a URL is relative to a home directory if it begins with "/~".
func UploadPack(path string) string {
	if strings.HasPrefix(path, "/~") {
		path = path[1:]
	}
	return service + " '" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(path) + "'"
}

// maxAdvert is in bytes. Servers send a few hundred.
const maxAdvert = 64 << 10

// Session is a [Transport] over one connection. It is not safe for concurrent use: an answer must be read to its
// end or closed before the next request. An answer that was not read to its end costs the connection.
type Session struct {
	Connect func(context.Context) (Conn, error)
	// Floor is for each answer.
	Floor httpx.Floor

	conn   Conn   // nil if there is none
	advert []byte // the advertisement of conn
}

func (s *Session) Ask(ctx context.Context, request []byte) (Answer, error) {
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	a := s.answer(ctx)
	if _, err := s.conn.Write(request); err != nil {
		err = a.cause(err)
		_ = a.Close()
		return nil, err
	}
	return a, nil
}

func (s *Session) Advertisement(ctx context.Context) (io.ReadCloser, error) {
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(s.advert)), nil
}

func (s *Session) Close() error {
	if s.conn != nil {
		s.conn.Close()
	}
	s.conn, s.advert = nil, nil
	return nil
}

// connect also reads the advertisement.
func (s *Session) connect(ctx context.Context) (err error) {
	if s.conn != nil {
		return nil
	}
	conn, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	s.conn = conn
	a := s.answer(ctx)
	defer func() { _ = a.Close() }()
	read := &bytes.Buffer{}
	// A server of an older version lists all its refs, so only its first line is awaited.
	p := newPackets(io.TeeReader(io.LimitReader(a, maxAdvert), read), a.Ended)
	if err := checkAdvert(p); err != nil {
		return err
	}
	for kind := dataPacket; kind != flushPacket; {
		if kind, _, err = p.next(); err != nil {
			return early(err)
		}
	}
	s.advert = read.Bytes()
	return p.end()
}

func (s *Session) answer(ctx context.Context) *answer {
	a := &answer{session: s, conn: s.conn}
	a.ctx, a.guard = s.Floor.Watch(ctx)
	a.stop = context.AfterFunc(a.ctx, func() {
		if _, ok := errors.AsType[*httpx.StalledError](context.Cause(a.ctx)); ok {
			a.conn.Kill()
			return
		}
		a.conn.Close()
	})
	return a
}

// answer leaves the connection open if it was read to its end.
type answer struct {
	session *Session
	conn    Conn
	ctx     context.Context
	guard   *httpx.Guard
	stop    func() bool

	complete bool
}

func (a *answer) Ended() { a.complete = true }

func (a *answer) Read(p []byte) (int, error) {
	if a.complete {
		return 0, io.EOF
	}
	n, err := a.conn.Read(p)
	a.guard.Add(n)
	if n == 0 && err != nil {
		return 0, a.cause(err)
	}
	return n, nil
}

func (a *answer) cause(err error) error {
	if a.ctx.Err() != nil {
		return context.Cause(a.ctx)
	}
	if failed := a.conn.Wait(); failed != nil {
		return failed
	}
	return early(err)
}

func (a *answer) Close() error {
	a.stop()
	a.guard.Stop()
	if !a.complete && a.session.conn == a.conn {
		return a.session.Close()
	}
	return nil
}
