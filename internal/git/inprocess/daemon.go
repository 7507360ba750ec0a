package inprocess

import (
	"cmp"
	"context"
	"net"
	"net/url"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

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
