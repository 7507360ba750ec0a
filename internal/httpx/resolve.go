package httpx

import (
	"context"
	"net"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/hostname"
)

// CheckResolved is for programs that open connections themselves, such as ssh. It resolves the host of a
// URL, and returns a [*DeniedError] if the requests of the context must not be sent to one of its
// addresses.
//
// The program resolves the name once more, so a server for names can still give it another answer. A
// name that cannot be resolved here is not refused: it may be an alias in the program's configuration, or
// one that only a proxy resolves.
func CheckResolved(ctx context.Context, to *url.URL) error {
	rule := ruleOf(ctx)
	if rule.from == nil || to.Hostname() == "" || hostname.ScopeOf(to.Hostname()) != hostname.Anywhere {
		return nil // the text has been judged
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", to.Hostname())
	if err != nil {
		return ctx.Err()
	}
	for _, addr := range found {
		if err := rule.checkReach(to, addr); err != nil {
			return &DeniedError{URL: addrs.Redact(to.String()), Err: err}
		}
	}
	return nil
}
