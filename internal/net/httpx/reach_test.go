package httpx_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/testenv"
)

type network struct {
	client *http.Client
	asked  atomic.Int64

	mu        sync.Mutex
	addresses map[string]string
	dialed    []string
}

// resolvedConn is a connection whose other end seems to have another address.
type resolvedConn struct {
	net.Conn
	addr netip.Addr
}

func (c resolvedConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(c.addr, 443))
}

func newNetwork(t *testing.T, tls bool, addresses map[string]string) *network {
	n := &network{addresses: addresses}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.asked.Add(1)
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("hello"))
	}))
	server.EnableHTTP2 = true
	if tls {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	transport := server.Client().Transport.(*http.Transport).Clone()
	if tls {
		transport.TLSClientConfig.ServerName = "example.com"
	}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		if err != nil {
			return nil, err
		}
		host, _, _ := net.SplitHostPort(address)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.dialed = append(n.dialed, host)
		return resolvedConn{conn, netip.MustParseAddr(n.addresses[host])}, nil
	}
	n.client = &http.Client{Transport: transport}
	t.Cleanup(n.client.CloseIdleConnections)
	return n
}

func (n *network) get(ctx context.Context, target string) error {
	client := httpx.Client{HTTP: n.client, MaxRedirects: 3, Retry: httpx.Retry{Attempts: 1}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	_, err = read(&client, req, 100)
	return err
}

func addressesOf() map[string]string {
	return map[string]string{
		"public.example": "203.0.113.7", "private.example": "10.1.2.3", "here.example": "127.0.0.1", "here6.example": "::1", "mapped.example": "::ffff:127.0.0.1",
		"zero.example": "0.0.0.0", "link.example": "fe80::1", "metadata.example": "169.254.169.254", "metadata6.example": "fd00:ec2::254", "alibaba.example": "100.100.100.200",
		"127.0.0.1": "127.0.0.1",
	}
}

func pointedTo(t *testing.T, from string) context.Context {
	t.Helper()
	u, err := url.Parse(from)
	testenv.Must(t, err)
	return httpx.PointedTo(t.Context(), u)
}

// The address that a name resolves to is judged like an address in the text, before anything is sent.
func TestResolvedAddresses(t *testing.T) {
	t.Parallel()
	for _, tls := range []bool{true, false} {
		for host := range addressesOf() {
			for _, from := range []string{"", "https://public.example", "https://127.0.0.1", "https://169.254.1.1"} {
				// A server on this machine, or on its link, may point to others there.
				scope := hostname.ScopeOf(addressesOf()[host])
				allowed := from == "" || scope == hostname.Anywhere || from == map[hostname.Scope]string{
					hostname.ThisMachine: "https://127.0.0.1", hostname.ThisLink: "https://169.254.1.1",
				}[scope]
				n := newNetwork(t, tls, addressesOf())
				ctx := t.Context()
				if from != "" {
					ctx = pointedTo(t, from)
				}
				scheme := "http://"
				if tls {
					scheme = "https://"
				}
				err := n.get(ctx, scheme+host+"/")
				reach, refused := errors.AsType[*httpx.ReachError](err)
				if refused == allowed || !refused && err != nil {
					t.Errorf("tls %v, from %q to %s: %v, want allowed: %v", tls, from, host, err, allowed)
				}
				if refused && (reach.From != from || reach.HostPort == "") {
					t.Errorf("from %q to %s: %+v", from, host, reach)
				}
				if asked := n.asked.Load(); refused && asked > 0 || !refused && asked != 1 {
					t.Errorf("tls %v, from %q to %s: %d requests", tls, from, host, asked)
				}
			}
		}
	}
}

// A redirect to a name is judged by what the name resolves to, relative to the server that redirects.
func TestRedirectsToNames(t *testing.T) {
	t.Parallel()
	for to, refused := range map[string]bool{"public.example": false, "private.example": false, "here.example": true, "metadata.example": true} {
		n := newNetwork(t, true, addressesOf())
		err := n.get(t.Context(), "https://private.example/?to="+url.QueryEscape("https://"+to+"/"))
		var redirect *httpx.RedirectError
		if _, ok := errors.AsType[*httpx.ReachError](err); ok != refused || ok != errors.As(err, &redirect) || !ok && err != nil {
			t.Errorf("redirect to %s: %v, want refused: %v", to, err, refused)
		}
		if asked := n.asked.Load(); refused && asked != 1 {
			t.Errorf("redirect to %s: %d requests, want 1", to, asked)
		}
	}
	// The user's own host may redirect to itself, wherever its name leads.
	n := newNetwork(t, true, addressesOf())
	if err := n.get(t.Context(), "https://here.example/?to=/again"); err != nil {
		t.Errorf("a redirect to the same host: %v", err)
	}
	// A host that a server has named may not: its name could resolve to another address now.
	n = newNetwork(t, true, addressesOf())
	if err := n.get(pointedTo(t, "https://private.example"), "https://public.example/?to=/again"); err != nil {
		t.Error(err)
	}
}

// An open connection is not used under another limit: not one to this machine that the user may use,
// and not one from before a name resolved to this machine.
func TestReusedConnections(t *testing.T) {
	t.Parallel()
	for _, tls := range []bool{true, false} { // HTTP/2 and HTTP/1.1
		n := newNetwork(t, tls, addressesOf())
		scheme := map[bool]string{true: "https://", false: "http://"}[tls]
		testenv.Must(t, n.get(t.Context(), scheme+"here.example/"))
		for range 2 {
			if _, refused := errors.AsType[*httpx.ReachError](n.get(pointedTo(t, "https://public.example"), scheme+"here.example/")); !refused {
				t.Errorf("tls %v: a server's address was requested through the user's connection", tls)
			}
		}
		if asked := n.asked.Load(); asked != 1 {
			t.Errorf("tls %v: %d requests, want 1", tls, asked)
		}
		// Connections are reused under the same limit.
		for range 3 {
			testenv.Must(t, n.get(pointedTo(t, "https://private.example"), scheme+"public.example/"))
		}
		var dialed []string
		for _, host := range n.dialed {
			if host == "public.example" {
				dialed = append(dialed, host)
			}
		}
		if diff := cmp.Diff([]string{"public.example"}, dialed); diff != "" {
			t.Errorf("tls %v: connections (-want +got):\n%s", tls, diff)
		}
	}
}

// A host and port that somebody else names is allowed: on this machine by the project and the user, and
// metadata services by the user only. The names are not asked for if no request would be refused.
func TestNamedHosts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		url     string
		by      httpx.Naming
		allowed bool
	}{
		{"https://here.example/", httpx.NotNamed, false},
		{"https://here.example/", httpx.NamedByProject, true},
		{"https://here.example/", httpx.NamedByUser, true},
		{"https://metadata.example/", httpx.NamedByProject, false},
		{"https://metadata.example/", httpx.NamedByUser, true},
		{"https://127.0.0.1/", httpx.NamedByProject, true},
		{"https://127.0.0.1/", httpx.NotNamed, false},
		{"https://public.example/", httpx.NotNamed, true},
	} {
		n := newNetwork(t, true, addressesOf())
		var asked []string
		ctx := httpx.WithNames(pointedTo(t, "https://public.example"), func(hostPort string) httpx.Naming {
			asked = append(asked, hostPort)
			return test.by
		})
		err := n.get(ctx, test.url)
		if _, refused := errors.AsType[*httpx.ReachError](err); refused == test.allowed || !refused && err != nil {
			t.Errorf("%s named %d: %v, want allowed: %v", test.url, test.by, err, test.allowed)
		}
		if (len(asked) > 0) == strings.Contains(test.url, "public") {
			t.Errorf("%s: asked who names %q", test.url, asked)
		}
	}
}

// A proxy may be on this machine. It resolves the names itself, so only the text of addresses is judged.
func TestProxyOnThisMachine(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, false, map[string]string{"127.0.0.1": "127.0.0.1"})
	transport := n.client.Transport.(*http.Transport)
	transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: "127.0.0.1:3128"})
	if err := n.get(pointedTo(t, "https://public.example"), "http://here.example/"); err != nil {
		t.Errorf("through a proxy: %v", err)
	}
	if _, refused := errors.AsType[*httpx.ReachError](n.get(pointedTo(t, "https://public.example"), "http://127.0.0.1/")); !refused {
		t.Error("an address of this machine was requested through a proxy")
	}
}

// Programs that open connections themselves are not started for a name that resolves to this machine.
func TestCheckResolved(t *testing.T) {
	t.Parallel()
	own, _ := os.Hostname()
	name := ""
	for _, candidate := range []string{own, "ip6-localhost", "localhost6", "localhost.localdomain"} {
		if found, err := net.DefaultResolver.LookupNetIP(t.Context(), "ip", candidate); err == nil && found[0].Unmap().IsLoopback() {
			name = candidate
		}
	}
	if name == "" {
		t.Skip("no name of this machine, except localhost, is known to the resolver")
	}
	at := &url.URL{Scheme: "ssh", Host: name}
	if found, err := httpx.CheckResolved(t.Context(), at, name); found != nil || err != nil {
		t.Errorf("named by the user: %v", err)
	}
	if found, err := httpx.CheckResolved(pointedTo(t, "https://127.0.0.1"), at, name); err != nil || len(found) == 0 || !found[0].IsLoopback() {
		t.Errorf("named by a package of this machine: %v, %v", found, err)
	}
	_, err := httpx.CheckResolved(pointedTo(t, "https://public.example"), at, name)
	if reach, ok := errors.AsType[*httpx.ReachError](err); !ok || !reach.Addr.Unmap().IsLoopback() {
		t.Errorf("named by a package from elsewhere: %v, want a *httpx.ReachError", err)
	}
	if _, err := httpx.CheckResolved(pointedTo(t, "https://public.example"), at, "alias.invalid"); err != nil {
		t.Errorf("a name that is not resolved: %v", err)
	}
}
