package gitwire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/internal/httpx"
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

func (s *Session) Ask(ctx context.Context, request []byte) (io.ReadCloser, error) {
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
	// A server of an older version lists all its refs, so nothing is read beyond its first line.
	p := newPackets(io.TeeReader(io.LimitReader(a, maxAdvert), read))
	if err := checkAdvert(p); err != nil {
		return err
	}
	for kind := dataPacket; kind != flushPacket; {
		if kind, _, err = p.next(); err != nil {
			return early(err)
		}
	}
	if !a.complete {
		return malformed("an advertisement has over %d bytes", maxAdvert)
	}
	s.advert = read.Bytes()
	return nil
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

// answer ends with a flush packet, after which the connection stays open.
type answer struct {
	session *Session
	conn    Conn
	ctx     context.Context
	guard   *httpx.Guard
	stop    func() bool

	head     []byte // what was read of the length of a packet
	left     int    // the bytes of the packet that were not read yet
	foreign  bool   // the answer does not consist of packets, which its reader will find
	complete bool
}

func (a *answer) Read(p []byte) (int, error) {
	if a.complete {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	switch {
	case a.foreign:
	case a.left > 0:
		p = p[:min(len(p), a.left)]
	default:
		p = p[:min(len(p), lenSize-len(a.head))]
	}
	n, err := a.conn.Read(p)
	a.guard.Add(n)
	switch {
	case n == 0 && err != nil:
		return 0, a.cause(err)
	case a.foreign:
	case a.left > 0:
		a.left -= n
	default:
		a.beginPacket(p[:n])
	}
	return n, nil
}

func (a *answer) beginPacket(p []byte) {
	if a.head = append(a.head, p...); len(a.head) < lenSize {
		return
	}
	n, err := strconv.ParseUint(string(a.head), 16, 16)
	a.head = a.head[:0]
	switch {
	case err != nil:
		a.foreign = true
	case special(n) == flushPacket:
		a.complete = true
	case n >= lenSize:
		a.left = int(n) - lenSize
	}
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

// Close ends the connection if the answer was not read to its end.
func (a *answer) Close() error {
	a.stop()
	a.guard.Stop()
	if !a.complete && a.session.conn == a.conn {
		return a.session.Close()
	}
	return nil
}
