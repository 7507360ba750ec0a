package gitwire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/cotterpin/cotter/internal/httpx"
)

// Conn is a connection to a git-upload-pack that was asked for version 2 of the protocol. Its output
// is read, and its input is written.
type Conn interface {
	io.Reader
	io.Writer
	// Wait returns why a connection whose output has ended has failed; nil if it has not.
	Wait() error
	// Close ends the conversation.
	Close()
	// Kill ends a connection that transfers nothing any more.
	Kill()
}

// maxAdvert bounds the size of an advertisement, in bytes. Servers send a few hundred.
const maxAdvert = 64 << 10

// Session is a [Transport] over a connection on which the server begins with its advertisement, and
// requests and answers follow each other. It is not safe for concurrent use: an answer must be read to
// its end or closed before the next request. After an answer that was not read to its end, the next
// request has a new connection.
type Session struct {
	// Connect connects to the server.
	Connect func(context.Context) (Conn, error)
	// Floor is the rate that each answer must have.
	Floor httpx.Floor

	conn   Conn   // nil if there is none
	advert []byte // the advertisement of conn
}

// Ask implements [Transport].
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

// Advertisement implements [Transport].
func (s *Session) Advertisement(ctx context.Context) (io.ReadCloser, error) {
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(s.advert)), nil
}

// Close implements [Transport].
func (s *Session) Close() error {
	if s.conn != nil {
		s.conn.Close()
	}
	s.conn, s.advert = nil, nil
	return nil
}

// connect connects to the server, if there is no connection, and reads the advertisement.
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

// answer returns the answer that the server is about to send.
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

// answer reads an answer, which ends with a flush packet. The connection stays open after that.
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

// beginPacket reads a part of the length of a packet.
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

// cause returns why the connection has failed after an error of its pipes.
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
