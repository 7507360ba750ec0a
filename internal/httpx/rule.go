package httpx

import (
	"context"
	"net/netip"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
)

// Rule decides which URLs may be requested. It travels in a context, because one client and the
// answers that it remembers serve several projects, which may have different policies. The zero Rule
// allows all URLs.
type Rule struct {
	// Key is equal for rules that allow the same URLs. "" means that all URLs are allowed.
	Key string
	// Check returns an error if a URL must not be requested. It must be set if Key is not "".
	Check func(*url.URL) error

	// from is the URL of the server or package that has named the URLs of the requests. If it is nil,
	// the user or the project did, so that they may have any host.
	from *url.URL
	// named returns who else names a host and port; see [WithNames]. It may be nil.
	named func(hostPort string) Naming
}

type ruleKey struct{}

// WithRule returns a context whose requests are checked before they are sent: the caller's own and
// those that follow its redirects. The Key and Check of the rule replace those of ctx.
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

// checkRule returns a [*DeniedError] if the rule of a context denies a URL.
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

// DeniedError says that a request was not sent because the [Rule] of its context denies its URL. If
// that URL is the target of a redirect, a [*RedirectError] wraps it.
type DeniedError struct {
	// URL is the URL that was not requested, redacted.
	URL string
	// Err is the error of Rule.Check, or a [*ReachError].
	Err error
}

func (e *DeniedError) Error() string { return e.Err.Error() }

func (e *DeniedError) Unwrap() error { return e.Err }

// Shared is the key of an answer that several callers share. Keys are equal only if the rules of the
// callers are: otherwise, an answer could come from a URL that the rule of another caller denies.
type Shared[K comparable] struct {
	rule string
	key  K
}

// Share returns the key by which callers whose contexts have equal rules share an answer.
func Share[K comparable](ctx context.Context, key K) Shared[K] {
	return Shared[K]{ruleOf(ctx).Key, key}
}
