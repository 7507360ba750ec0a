package inprocess

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/trace"
)

// Transport returns the transport for an ssh:// address. The caller must close it.
func (s SSH) Transport(u *url.URL) *Stream {
	return &Stream{dial: func(ctx context.Context, minRate int64) (*conn, error) { return s.connect(ctx, u, minRate) }}
}

// connect logs in to a host and starts git-upload-pack.
func (s SSH) connect(ctx context.Context, u *url.URL, minRate int64) (_ *conn, err error) {
	ctx, traced := trace.Start(ctx, trace.Operation{Kind: "ssh", Target: addrs.Redact(u.String())})
	defer func() { traced(err) }()
	host, err := s.hostOf(ctx, u)
	if err != nil {
		return nil, err
	}
	keys, err := newKeyRing(s, host)
	if err != nil {
		return nil, err
	}
	defer keys.close()
	hosts, err := s.knownHosts(host.knownAs)
	if err != nil {
		return nil, err
	}
	raw, err := dial(ctx, host.address)
	if err != nil {
		return nil, err
	}
	w := watchConn(ctx, raw, minRate)
	c, err := s.login(raw, host.knownAs, &ssh.ClientConfig{
		User:              host.user,
		Auth:              []ssh.AuthMethod{ssh.PublicKeysCallback(func() ([]ssh.Signer, error) { return keys.signers(ctx), nil })},
		HostKeyCallback:   hosts.check,
		HostKeyAlgorithms: hosts.algorithms,
	}, u.Path)
	if err != nil {
		cause := w.cause()
		_ = w.close()
		switch {
		case cause != nil:
			return nil, cause
		case keys.asked:
			return nil, keys.refused(host.user, u.Hostname())
		}
		return nil, err
	}
	c.watch = w
	return c, nil
}

// login logs in on a connection and starts git-upload-pack. The server's key must be a known
// key of knownAs.
func (s SSH) login(raw net.Conn, knownAs string, config *ssh.ClientConfig, path string) (*conn, error) {
	link, channels, requests, err := ssh.NewClientConn(raw, knownAs, config)
	if err != nil {
		if _, ok := errors.AsType[*Error](err); ok {
			return nil, err // the host's key was refused
		}
		return nil, &Error{Kind: Unreachable, Message: "the ssh server refuses the connection", Err: err}
	}
	session, err := ssh.NewClient(link, channels, requests).NewSession()
	if err != nil {
		return nil, &Error{Kind: Unreachable, Message: "the ssh server does not open a session", Err: err}
	}
	in, err := session.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := session.StdoutPipe()
	if err != nil {
		return nil, err
	}
	said := &words{}
	session.Stderr = said
	if err := session.Start("git-upload-pack " + shellQuote(remotePath(path))); err != nil {
		return nil, &Error{Kind: Refused, Message: "the ssh server does not start git-upload-pack", Err: err}
	}
	return &conn{in: in, out: out, said: said.wait(session)}, nil
}

// remotePath returns the path of an ssh address on the server. Paths relative to a home
// directory are written /~user/path in addresses.
func remotePath(path string) string {
	if strings.HasPrefix(path, "/~") {
		return path[1:]
	}
	return path
}

// shellQuote quotes s for the shell on the server.
func shellQuote(s string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(s) + "'"
}

// words keeps the beginning of the server's standard error.
type words struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p[:min(len(p), max(0, 4*maxShown-w.text.Len()))])
	return len(p), nil
}

// wait returns a function that waits for the end of a session. If the session failed, the
// function returns the server's standard error.
func (w *words) wait(session *ssh.Session) func() string {
	return func() string {
		if err := session.Wait(); err == nil {
			return ""
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		return strings.TrimSpace(w.text.String())
	}
}
