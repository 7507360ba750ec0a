package rules

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/policy"
)

// Rules are the policies of a run. None is nil.
type Rules []*policy.Policy

// Each returns the error of the first policy for which check returns one.
func (r Rules) Each(check func(*policy.Policy) error) error {
	for _, p := range r {
		if err := check(p); err != nil {
			return err
		}
	}
	return nil
}

// Allow checks a location that was named by something other than the call.
func (r Rules) Allow(pkg addrs.ModulePackage) error {
	return r.Each(func(p *policy.Policy) error { return p.CheckPackage(pkg) })
}

func (r Rules) CheckProvider(provider addrs.Provider) error {
	return r.Each(func(p *policy.Policy) error { return p.CheckProvider(provider) })
}

func (r Rules) CheckAuthentication(auth getproviders.Authentication) error {
	if auth.Evidence.Kind == evidence.Project {
		if err := r.CheckProjectProvider(); err != nil {
			return err
		}
	}
	return policy.CheckSignature(auth.Weak, r...)
}

// CheckProjectProvider checks a provider's package that the project itself brings.
func (r Rules) CheckProjectProvider() error {
	return r.Each(func(p *policy.Policy) error { return p.CheckProjectProvider() })
}

// ForModules returns a context for requests for modules: none of them is sent to a URL that
// deny_sources denies, even if a server or a package names the URL.
func (r Rules) ForModules(ctx context.Context) context.Context {
	return r.withRule(ctx, "modules", (*policy.Policy).CheckURL, (*policy.Policy).DeniedURLs)
}

// ForProviders is like ForModules, for requests for providers and the hosts in deny_providers.
func (r Rules) ForProviders(ctx context.Context) context.Context {
	return r.withRule(ctx, "providers", (*policy.Policy).CheckProviderURL, (*policy.Policy).DeniedProviderURLs)
}

func (r Rules) withRule(ctx context.Context, kind string, check func(*policy.Policy, *url.URL) error, denied func(*policy.Policy) string) context.Context {
	rule := httpx.Rule{Check: func(u *url.URL) error {
		return r.Each(func(p *policy.Policy) error { return check(p, u) })
	}}
	for _, p := range r {
		if text := denied(p); text != "" {
			rule.Key += kind + " " + text + "\n"
		}
	}
	return httpx.WithRule(ctx, rule)
}

// Locations returns a text that is equal for rules that allow the same locations. It is "" if they
// allow all locations.
func (r Rules) Locations() string {
	var b strings.Builder
	for _, p := range r {
		if p.Allow != nil || len(p.Deny) > 0 {
			fmt.Fprintf(&b, "allow %t %q deny %q\n", p.Allow == nil, p.Allow, p.Deny)
		}
	}
	return b.String()
}

func (r Rules) HaveMinAge() bool {
	return slices.ContainsFunc(r, func(p *policy.Policy) bool { return p.MinAge > 0 })
}

// ReachableCommits reports whether a policy requires that commits in source addresses are in the
// history of a branch or a tag.
func (r Rules) ReachableCommits() bool {
	return slices.ContainsFunc(r, func(p *policy.Policy) bool { return p.ReachableCommits })
}

// DenyBranches reports whether a policy denies branches, so that the kind of a ref matters.
func (r Rules) DenyBranches() bool {
	return slices.ContainsFunc(r, func(p *policy.Policy) bool { return p.DenyBranches })
}
