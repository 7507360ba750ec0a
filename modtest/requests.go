package modtest

import (
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
)

// Request is a request that a world has received.
type Request struct {
	Method string
	Host   string // as the client wrote it, with the port
	Path   string
	Query  string // without the question mark
	Header http.Header
	TLS    bool // whether it came to the TLS listener
}

// String returns method, path and query: "GET /v1/modules/a/b/c/versions".
func (r Request) String() string {
	s := r.Method + " " + r.Path
	if r.Query != "" {
		s += "?" + r.Query
	}
	return s
}

// Requests returns all requests so far in the order of arrival, also those with a [Fault].
func (w *World) Requests() []Request {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	return slices.Clone(w.log.requests)
}

// ResetRequests clears the list of requests.
func (w *World) ResetRequests() {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	if len(w.log.requests) > 0 {
		w.log.first = nil // it has been closed
	}
	w.log.requests = nil
}

// Requested returns a channel that is closed when the next request arrives, so that a test can act while
// the program waits.
func (w *World) Requested() <-chan struct{} {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	if w.log.first == nil {
		w.log.first = make(chan struct{})
		if len(w.log.requests) > 0 {
			close(w.log.first)
		}
	}
	return w.log.first
}

type requestLog struct {
	mu       sync.Mutex
	requests []Request
	first    chan struct{} // nil until Requested is called
}

func (l *requestLog) add(r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.requests) == 0 && l.first != nil {
		close(l.first)
	}
	l.requests = append(l.requests, Request{
		Method: r.Method,
		Host:   r.Host,
		Path:   r.URL.Path,
		Query:  r.URL.RawQuery,
		Header: r.Header.Clone(),
		TLS:    r.TLS != nil,
	})
}

// BytesSent returns the bytes that the servers have written to connections, with headers and TLS.
func (w *World) BytesSent() int64 { return w.sent.Load() }

type countingListener struct {
	net.Listener
	sent *atomic.Int64
}

func (l countingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countingConn{conn, l.sent}, nil
}

type countingConn struct {
	net.Conn
	sent *atomic.Int64
}

// Write counts before it writes, because a client may read the count before Write returns.
func (c countingConn) Write(p []byte) (int, error) {
	c.sent.Add(int64(len(p)))
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n - len(p)))
	return n, err
}
