package httpx

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/hostname"
)

// Naming says who names a host and port, apart from packages and servers.
type Naming int

// Who names a host and port.
const (
	NotNamed Naming = iota
	NamedByProject
	NamedByUser
)

// PointedTo returns a context for requests to URLs that a server, or a package, at another URL has named. These
// must not name hosts that only have a meaning on this machine; see package hostname. A URL is judged by its
// text, and then by the address to which its name resolves: a connection to a refused address is closed before
// anything is sent. Through a proxy, which resolves names, and by a transport that is no [*http.Transport], only
// the text is judged.
func PointedTo(ctx context.Context, from *url.URL) context.Context {
	rule := ruleOf(ctx)
	rule.from = &url.URL{Scheme: from.Scheme, Host: from.Host}
	return context.WithValue(ctx, ruleKey{}, rule)
}

// PointedToHost is [PointedTo], unless from and to are the same host and port. Then the limits of ctx
// stay as they are: the URL of a server may be one that the user has named.
func PointedToHost(ctx context.Context, from, to *url.URL) context.Context {
	if HostPort(from) == HostPort(to) {
		return ctx
	}
	return PointedTo(ctx, from)
}

// PointedToName is [PointedToHost] for a URL whose text has been judged before. If the text says that its
// host is on this machine, the limits of ctx stay as they are.
func PointedToName(ctx context.Context, from, to *url.URL) context.Context {
	if hostname.ScopeOf(to.Hostname()) != hostname.Anywhere {
		return ctx
	}
	return PointedToHost(ctx, from, to)
}

// WithNames returns a context in which servers and packages may also point to the hosts and ports for
// which named returns who names them. named gets them in the form of [HostPort]. It is only called if
// a request would be refused otherwise.
func WithNames(ctx context.Context, named func(hostPort string) Naming) context.Context {
	rule := ruleOf(ctx)
	if before := rule.named; before != nil {
		rule.named = func(hostPort string) Naming { return max(before(hostPort), named(hostPort)) }
	} else {
		rule.named = named
	}
	return context.WithValue(ctx, ruleKey{}, rule)
}

// WithoutPointer returns a context for requests to a URL that the user has named, for example in an
// environment variable, although they are sent for what a server or a package has named.
func WithoutPointer(ctx context.Context) context.Context {
	rule := ruleOf(ctx)
	rule.from = nil
	return context.WithValue(ctx, ruleKey{}, rule)
}

// Pointer returns the URL in the last [PointedTo] of a context, or nil.
func Pointer(ctx context.Context) *url.URL { return ruleOf(ctx).from }

// NamedBy returns who names the host and port of a URL, apart from packages and servers.
func NamedBy(ctx context.Context, u *url.URL) Naming {
	if named := ruleOf(ctx).named; named != nil {
		return named(HostPort(u))
	}
	return NotNamed
}

// HostPort returns the host and the port of a URL in the form in which hosts are compared.
func HostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "ssh": "22", "git": "9418"}[u.Scheme]
	}
	if port == "" {
		port = "443"
	}
	return net.JoinHostPort(hostname.Canonical(u.Hostname()), port)
}

// CheckReach returns a [*ReachError] if the requests of a context must not be sent to a URL, judging by
// the text of its host. It is for requests that are not sent by this package, which does it itself.
func CheckReach(ctx context.Context, to *url.URL) error {
	if err := ruleOf(ctx).checkReach(to, netip.Addr{}); err != nil {
		return err
	}
	return nil
}

// MayPointTo is [hostname.MayPointTo], and also allows the hosts of [WithNames].
func MayPointTo(ctx context.Context, from, to *url.URL) (reason string, ok bool) {
	if err := ruleOf(PointedTo(ctx, from)).checkReach(to, netip.Addr{}); err != nil {
		return "its host is " + err.Scope.String(), false
	}
	return "", true
}

func (r Rule) checkReach(to *url.URL, addr netip.Addr) *ReachError {
	scope := hostname.ScopeOf(to.Hostname())
	if addr.IsValid() {
		scope = hostname.ScopeOfAddr(addr)
	}
	if r.allows(to, scope) {
		return nil
	}
	return r.refused(to, addr, scope)
}

func (r Rule) refused(to *url.URL, addr netip.Addr, scope hostname.Scope) *ReachError {
	refused := &ReachError{To: addrs.Redact(to.Scheme + "://" + to.Host), HostPort: HostPort(to), Addr: addr, Scope: scope}
	if r.from.Host != "" {
		refused.From = Origin(r.from)
	}
	return refused
}

// allows reports whether requests may be sent to a URL whose host has a scope.
func (r Rule) allows(to *url.URL, scope hostname.Scope) bool {
	if r.from == nil || scope == hostname.Anywhere || scope == hostname.ScopeOf(r.from.Hostname()) && scope != hostname.NotAnAddress {
		return true
	}
	if r.named == nil {
		return false
	}
	by := r.named(HostPort(to))
	return by == NamedByUser || by == NamedByProject && scope == hostname.ThisMachine
}

// ReachError says that a request was not sent because a package or a server has named a host that only
// has a meaning on this machine.
type ReachError struct {
	// From is the origin of the package or server; "" if it is not known.
	From string
	// To has the scheme and the host of the refused URL. HostPort is the host with the port.
	To, HostPort string
	// Addr is the address that the host resolves to. It is not valid if the host itself is refused.
	Addr netip.Addr
	// Scope is the scope of Addr, or of the host.
	Scope hostname.Scope
}

// OnThisMachine reports whether the project may name the host. If not, only the user may.
func (e *ReachError) OnThisMachine() bool { return e.Scope == hostname.ThisMachine }

func (e *ReachError) Error() string {
	text := fmt.Sprintf("what comes from %q must not point to %q", e.From, e.To)
	if e.From == "" {
		text = fmt.Sprintf("a server or package must not point to %q", e.To)
	}
	if e.Addr.IsValid() {
		return fmt.Sprintf("%s: its address %s is %s", text, e.Addr, e.Scope)
	}
	return fmt.Sprintf("%s: its host is %s", text, e.Scope)
}
