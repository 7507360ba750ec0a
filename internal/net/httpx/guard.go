package httpx

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"sync"
	"time"
	"weak"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/hostname"
)

//lint:file-ignore SA1019 a caller's transport may have set the older fields

// guard has copies of a transport whose connections are judged by the address that was reached. A
// connection stays open for later requests, so each limit has its own transport.
type guard struct {
	// elsewhere has no connections to this machine, its link and metadata services; here has those to this
	// machine.
	elsewhere, here *http.Transport
}

var guards sync.Map

// maxGuardedIdle is short because callers cannot close idle connections.
const maxGuardedIdle = 30 * time.Second

func guardOf(base *http.Transport) *guard {
	key := weak.Make(base)
	if found, ok := guards.Load(key); ok {
		return found.(*guard)
	}
	found, loaded := guards.LoadOrStore(key, &guard{guarded(base, hostname.Anywhere), guarded(base, hostname.ThisMachine)})
	if !loaded {
		runtime.AddCleanup(base, func(key weak.Pointer[http.Transport]) { guards.Delete(key) }, key)
	}
	return found.(*guard)
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// guarded returns a copy that connects only to addresses of the scope Anywhere and of another one, without
// a proxy.
func guarded(base *http.Transport, also hostname.Scope) *http.Transport {
	own := base.Clone()
	_, speaksHTTP2 := own.TLSNextProto["h2"] // set by Clone if the transport would configure itself for it
	own.ForceAttemptHTTP2 = own.ForceAttemptHTTP2 || speaksHTTP2
	own.Proxy = nil
	if own.IdleConnTimeout <= 0 || own.IdleConnTimeout > maxGuardedIdle {
		own.IdleConnTimeout = maxGuardedIdle
	}
	dial := own.DialContext
	switch {
	case dial != nil:
	case own.Dial != nil: //nolint:staticcheck // a caller may have set it
		dial = withoutContext(own.Dial) //nolint:staticcheck // a caller may have set it
	default:
		dial = new(net.Dialer).DialContext
	}
	own.DialContext, own.Dial = judged(dial, also), nil //nolint:staticcheck // a caller may have set it
	switch {
	case own.DialTLSContext != nil:
		own.DialTLSContext = judged(own.DialTLSContext, also)
	case own.DialTLS != nil: //nolint:staticcheck // a caller may have set it
		own.DialTLSContext, own.DialTLS = judged(withoutContext(own.DialTLS), also), nil //nolint:staticcheck // a caller may have set it
	}
	return own
}

func withoutContext(dial func(network, address string) (net.Conn, error)) dialFunc {
	return func(_ context.Context, network, address string) (net.Conn, error) { return dial(network, address) }
}

// judged closes connections to addresses of other scopes, before anything is sent.
func judged(dial dialFunc, also hostname.Scope) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		addr, ok := remoteAddr(conn)
		if scope := hostname.ScopeOfAddr(addr); ok && scope != hostname.Anywhere && scope != also {
			_ = conn.Close()
			return nil, &reachedError{addr, scope}
		}
		return conn, nil
	}
}

// remoteAddr returns false for a connection without an address, such as a Unix socket.
func remoteAddr(conn net.Conn) (addr netip.Addr, ok bool) {
	remote := conn.RemoteAddr()
	if tcp, isTCP := remote.(*net.TCPAddr); isTCP {
		addr = tcp.AddrPort().Addr()
	} else if remote != nil {
		parsed, _ := netip.ParseAddrPort(remote.String())
		addr = parsed.Addr()
	}
	return addr.Unmap(), addr.IsValid()
}

type reachedError struct {
	addr  netip.Addr
	scope hostname.Scope
}

func (e *reachedError) Error() string {
	return "the address " + e.addr.String() + " is " + e.scope.String()
}

// roundTrip uses the transport for the limits of the context. The text of the URL has been judged.
func (c *Client) roundTrip(req *http.Request) (*http.Response, error) {
	base, ok := c.transport().(*http.Transport)
	rule := ruleOf(req.Context())
	if !ok || rule.from == nil || usesProxy(base, req) || hostname.ScopeOf(req.URL.Hostname()) != hostname.Anywhere {
		return c.transport().RoundTrip(req)
	}
	g := guardOf(base)
	answer, err := g.elsewhere.RoundTrip(req)
	for _, transport := range []*http.Transport{g.here, base} {
		reached, ok := errors.AsType[*reachedError](err)
		switch {
		case !ok:
			return answer, err
		case transport == g.here && reached.scope != hostname.ThisMachine:
			continue
		case !rule.allows(req.URL, reached.scope):
			return nil, &DeniedError{URL: addrs.Redact(req.URL.String()), Err: rule.refused(req.URL, reached.addr, reached.scope)}
		}
		if req, err = cloneWithBody(req.Context(), req); err != nil {
			return nil, err
		}
		answer, err = transport.RoundTrip(req)
	}
	return answer, err
}

// usesProxy reports whether a proxy, which the user has chosen, resolves the name.
func usesProxy(transport *http.Transport, req *http.Request) bool {
	if transport.Proxy == nil {
		return false
	}
	proxy, err := transport.Proxy(req)
	return proxy != nil || err != nil // the transport reports the error
}
