package httpx

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/hostname"
)

// Naming says who names a host and port, apart from packages and servers.
type Naming int

const (
	NotNamed Naming = iota
	NamedByProject
	NamedByUser
)

// PointedTo returns a context for requests to URLs that a server or a package at another URL has named.
// They must not name hosts that only have a meaning on this machine (package hostname). A URL is judged by
// its text, and then by the address that its name resolves to, before anything is sent. Through a proxy,
// and by a transport that is no [*http.Transport], only the text is judged.
func PointedTo(ctx context.Context, from *url.URL) context.Context {
	rule := ruleOf(ctx)
	rule.from = &url.URL{Scheme: from.Scheme, Host: from.Host}
	return context.WithValue(ctx, ruleKey{}, rule)
}

// PointedToHost is [PointedTo], unless from and to are the same host and port: the user may have named it.
func PointedToHost(ctx context.Context, from, to *url.URL) context.Context {
	if HostPort(from) == HostPort(to) {
		return ctx
	}
	return PointedTo(ctx, from)
}

// PointedToName is [PointedToHost] for a URL whose text has been judged before, so that a host that it says
// to be on this machine keeps the limits of ctx.
func PointedToName(ctx context.Context, from, to *url.URL) context.Context {
	if hostname.ScopeOf(to.Hostname()) != hostname.Anywhere {
		return ctx
	}
	return PointedToHost(ctx, from, to)
}

// WithNames returns a context in which servers and packages may also point to what named returns a name
// for. It gets the form of [HostPort], and is only called if a request would be refused otherwise.
func WithNames(ctx context.Context, named func(hostPort string) Naming) context.Context {
	rule := ruleOf(ctx)
	if before := rule.named; before != nil {
		rule.named = func(hostPort string) Naming { return max(before(hostPort), named(hostPort)) }
	} else {
		rule.named = named
	}
	return context.WithValue(ctx, ruleKey{}, rule)
}

// WithoutPointer is for requests to a URL that the user has named, for example in an environment variable.
func WithoutPointer(ctx context.Context) context.Context {
	rule := ruleOf(ctx)
	rule.from = nil
	return context.WithValue(ctx, ruleKey{}, rule)
}

// Pointer returns the URL of the last [PointedTo], or nil.
func Pointer(ctx context.Context) *url.URL { return ruleOf(ctx).from }

func NamedBy(ctx context.Context, u *url.URL) Naming {
	if named := ruleOf(ctx).named; named != nil {
		return named(HostPort(u))
	}
	return NotNamed
}

// HostPort returns host and port in the form in which hosts are compared.
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

// CheckReach returns a [*ReachError] if the requests of a context must not be sent to a URL, by the text of
// its host. Requests of this package are checked anyway.
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
		refused.From = hostname.Origin(r.from)
	}
	return refused
}

func (r Rule) allows(to *url.URL, scope hostname.Scope) bool {
	if r.from == nil || scope.AllowedFrom(r.from) {
		return true
	}
	if r.named == nil {
		return false
	}
	by := r.named(HostPort(to))
	return by == NamedByUser || by == NamedByProject && scope == hostname.ThisMachine
}

// ReachError says that a package or a server has named a host that only has a meaning on this machine.
type ReachError struct {
	// From is the origin of the package or server; "" if it is not known.
	From string
	// To has the scheme and the host.
	To, HostPort string
	// Addr is what the host resolves to; invalid if the host itself is refused.
	Addr netip.Addr
	// Scope is that of Addr, or of the host.
	Scope hostname.Scope
}

// OnThisMachine reports whether the project may name the host, and not only the user.
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
