package httpx

import (
	"context"
	"net/netip"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
)

// Rule decides which URLs may be requested. It travels in a context, because one client and its answers
// serve several projects with different policies. The zero Rule allows all URLs.
type Rule struct {
	// Key is equal for rules that allow the same URLs; "" allows all.
	Key string
	// Check must be set if Key is not "".
	Check func(*url.URL) error

	// from is the URL of the server or package that has named the URLs; nil for the user or the project,
	// who may name any host.
	from *url.URL
	// named is that of [WithNames], or nil.
	named func(hostPort string) Naming
}

type ruleKey struct{}

// WithRule returns a context whose requests and redirects are checked. Key and Check replace those of ctx.
func WithRule(ctx context.Context, rule Rule) context.Context {
	before := ruleOf(ctx)
	if before.Key == rule.Key {
		return ctx
	}
	rule.from, rule.named = before.from, before.named
	return context.WithValue(ctx, ruleKey{}, rule)
}

func ruleOf(ctx context.Context) Rule {
	rule, _ := ctx.Value(ruleKey{}).(Rule)
	return rule
}

func checkRule(ctx context.Context, u *url.URL) error {
	rule := ruleOf(ctx)
	if rule.Key != "" {
		if err := rule.Check(u); err != nil {
			return &DeniedError{URL: addrs.Redact(u.String()), Err: err}
		}
	}
	if err := rule.checkReach(u, netip.Addr{}); err != nil {
		return &DeniedError{URL: addrs.Redact(u.String()), Err: err}
	}
	return nil
}

// DeniedError says that a request was not sent because of the [Rule] of its context. A [*RedirectError]
// wraps it for the target of a redirect.
type DeniedError struct {
	// URL is redacted.
	URL string
	// Err is the error of Rule.Check, or a [*ReachError].
	Err error
}

func (e *DeniedError) Error() string { return e.Err.Error() }

func (e *DeniedError) Unwrap() error { return e.Err }

// Shared is the key of a shared answer. It has the callers' rule, because an answer could come from a URL
// that another rule denies.
type Shared[K comparable] struct {
	rule string
	key  K
}

func Share[K comparable](ctx context.Context, key K) Shared[K] {
	return Shared[K]{ruleOf(ctx).Key, key}
}
