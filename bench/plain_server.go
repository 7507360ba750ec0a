package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cotterpin/cotter/modtest"
)

// plainServer has a handler of its own, and no TLS: servers and tools share the CPUs of one machine.
type plainServer struct {
	server *httptest.Server

	delay atomic.Int64
	sent  atomic.Int64
	mu    sync.Mutex
	log   []modtest.Request
}

func (s *plainServer) start(h http.Handler) {
	s.server = httptest.NewUnstartedServer(s.logged(h))
	s.server.Listener = sentListener{s.server.Listener, &s.sent}
	s.server.Start()
}

// logged records requests, and waits.
func (s *plainServer) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.log = append(s.log, modtest.Request{Method: r.Method, Host: r.Host, Path: r.URL.Path, Query: r.URL.RawQuery, TLS: r.TLS != nil})
		s.mu.Unlock()
		time.Sleep(time.Duration(s.delay.Load()))
		next.ServeHTTP(w, r)
	})
}

func (s *plainServer) URL() string              { return s.server.URL }
func (s *plainServer) HTTPClient() *http.Client { return s.server.Client() }
func (s *plainServer) BytesSent() int64         { return s.sent.Load() }
func (s *plainServer) Wait(d time.Duration)     { s.delay.Store(int64(d)) }

func (s *plainServer) Requests() []modtest.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

func (s *plainServer) ResetRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = nil
}

func (s *plainServer) Env() []string {
	return []string{"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1"}
}

func (s *plainServer) host() string { return strings.TrimPrefix(s.server.URL, "http://") }

func (s *plainServer) CLIConfig() string {
	return fmt.Sprintf("host %q {\n  services = {\n    \"modules.v1\"   = \"%[2]s/v1/modules/\"\n    \"providers.v1\" = \"%[2]s/v1/providers/\"\n  }\n}\n", s.host(), s.server.URL)
}

func (s *plainServer) Close() error {
	s.server.CloseClientConnections()
	s.server.Close()
	return nil
}

type sentListener struct {
	net.Listener
	sent *atomic.Int64
}

func (l sentListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return sentConn{conn, l.sent}, err
}

type sentConn struct {
	net.Conn
	sent *atomic.Int64
}

func (c sentConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// ReadFrom lets the system copy files to the connection.
func (c sentConn) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(c.Conn, r)
	c.sent.Add(n)
	return n, err
}
