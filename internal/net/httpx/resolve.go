package httpx

import (
	"context"
	"net"
	"net/netip"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/hostname"
)

// CheckResolved is for programs that open connections themselves, such as ssh. It resolves a name, the host
// of a URL or what the program's configuration has for it. If the requests of the context must not be sent
// to one of the addresses, the error is a [*DeniedError].
//
// It returns none if the context has no limits, or if the name cannot be resolved here, which may be an
// alias of the program, or one for a proxy. A program that is not told the addresses resolves the name once
// more, so a server for names can give it another answer.
func CheckResolved(ctx context.Context, to *url.URL, name string) ([]netip.Addr, error) {
	rule := ruleOf(ctx)
	if rule.from == nil || name == "" || hostname.ScopeOf(name) != hostname.Anywhere {
		return nil, nil // the text has been judged, or is the user's
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil, ctx.Err()
	}
	for i, addr := range found {
		found[i] = addr.Unmap()
		if err := rule.checkReach(to, addr); err != nil {
			return nil, &DeniedError{URL: addrs.Redact(to.String()), Err: err}
		}
	}
	return found, nil
}
