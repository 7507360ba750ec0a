// Package webtest provides a small web on the loopback interface for tests: servers with any
// names, a client that can reach only these servers, and a record of all requests.
package webtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
)

type Web struct {
	t         testing.TB
	transport *http.Transport

	mu       sync.Mutex
	servers  map[string]string // the listeners' addresses by the addresses that clients dial
	requests []*http.Request
	trusted  bytes.Buffer // certificates in PEM
}

func New(t testing.TB) *Web {
	w := &Web{t: t, servers: make(map[string]string)}
	w.transport = &http.Transport{
		DialContext:     w.dial,
		TLSClientConfig: &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12},
	}
	t.Cleanup(w.transport.CloseIdleConnections)
	return w
}

// Serve starts a server at a URL without a path, such as "https://example.com:8443".
func (w *Web) Serve(url string, h http.HandlerFunc) {
	w.t.Helper()
	scheme, addr, _ := strings.Cut(url, "://")
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.record(r)
		h(rw, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if _, _, err := net.SplitHostPort(addr); err != nil {
		addr += map[string]string{"http": ":80", "https": ":443"}[scheme]
	}
	if scheme == "http" {
		s.Start()
	} else {
		host, _, _ := net.SplitHostPort(addr)
		s.TLS = &tls.Config{Certificates: []tls.Certificate{w.certificate(host)}, MinVersion: tls.VersionTLS12}
		s.StartTLS()
		w.transport.TLSClientConfig.RootCAs.AddCert(s.Certificate())
	}
	w.t.Cleanup(s.Close)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.servers[addr] = s.Listener.Addr().String()
}

// Client refuses connections to unknown addresses.
func (w *Web) Client() *http.Client { return &http.Client{Transport: w.transport} }

func (w *Web) Requests() []*http.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]*http.Request(nil), w.requests...)
}

func (w *Web) record(r *http.Request) {
	r = r.Clone(context.WithoutCancel(r.Context()))
	r.URL.Scheme, r.URL.Host = "http", strings.TrimSuffix(r.Host, ":80")
	if r.TLS != nil {
		r.URL.Scheme, r.URL.Host = "https", strings.TrimSuffix(r.Host, ":443")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, r)
}

func (w *Web) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	w.mu.Lock()
	listener, ok := w.servers[addr]
	w.mu.Unlock()
	if !ok {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, listener)
	if host, _, _ := net.SplitHostPort(addr); err != nil || net.ParseIP(host) != nil || host == "localhost" {
		return conn, err
	}
	return namedConn{conn}, nil
}

// namedConn has a remote address that is reserved for examples (RFC 5737): a client must not follow a
// server to a name on this machine.
type namedConn struct{ net.Conn }

func (namedConn) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(203, 0, 113, 1), Port: 443}
}
