package modtest

import (
	"net"
	"sync/atomic"
)

// BytesSent returns the number of bytes that the servers have written to connections so far. It
// includes headers and the overhead of TLS.
func (w *World) BytesSent() int64 { return w.sent.Load() }

// countingListener counts the bytes that are written to the connections that it accepts.
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

// Write counts the bytes before it writes them, because a client that has received its whole
// answer may read the count before Write returns.
func (c countingConn) Write(p []byte) (int, error) {
	c.sent.Add(int64(len(p)))
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n - len(p)))
	return n, err
}
