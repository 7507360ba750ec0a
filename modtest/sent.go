package modtest

import (
	"net"
	"sync/atomic"
)

// BytesSent is how many bytes the servers have written to connections so far:
// answers with their headers, and what TLS adds to them.
func (w *World) BytesSent() int64 { return w.sent.Load() }

// countingListener counts what is written to the connections that it accepts.
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

// Write counts first: a client that has its whole answer may ask for the count
// before Write returns here.
func (c countingConn) Write(p []byte) (int, error) {
	c.sent.Add(int64(len(p)))
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n - len(p)))
	return n, err
}
