package policy

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/cotterpin/cotter/addrs"
)

// CheckURL checks a URL to request for modules, such as a redirect, by Deny alone: registries and forges
// deliver packages from other hosts, which their users cannot list. The error is a *[Violation].
func (p *Policy) CheckURL(u *url.URL) error {
	return p.checkURL(p.orEmpty().Deny, argDeny, u)
}

// CheckProviderURL checks a URL to request for providers by the patterns of DenyProviders without a path:
// the paths of others are those of provider addresses. The error is a *[Violation].
func (p *Policy) CheckProviderURL(u *url.URL) error {
	return p.checkURL(p.deniedProviderHosts(), argDenyProviders, u)
}

// DeniedURLs returns a text that is equal for policies whose CheckURL denies the same URLs; "" for none.
func (p *Policy) DeniedURLs() string {
	return textOf(p.orEmpty().Deny)
}

// DeniedProviderURLs is like DeniedURLs, for CheckProviderURL.
func (p *Policy) DeniedProviderURLs() string {
	return textOf(p.deniedProviderHosts())
}

func textOf(patterns []Pattern) string {
	if len(patterns) == 0 {
		return ""
	}
	return fmt.Sprintf("%q", patterns)
}

func (p *Policy) deniedProviderHosts() []Pattern {
	return slices.DeleteFunc(slices.Clone(p.orEmpty().DenyProviders), func(pattern Pattern) bool { return len(pattern.at.path) > 0 })
}

func (p *Policy) checkURL(denied []Pattern, argument string, u *url.URL) error {
	if len(denied) == 0 {
		return nil
	}
	at, err := addrs.LocationOf(u)
	if err != nil {
		return err
	}
	return p.check(locationRules{deny: denied, argDeny: argument}, requestLocations(at)...)
}

// requestLocations returns the URL itself, and the repository that the API of an OCI registry has below
// "v2".
//
//	https://ghcr.io/v2/acme/net/blobs/sha256:...      ghcr.io/acme/net/blobs/sha256:...
func requestLocations(at addrs.Location) []location {
	locations := readLocations(at)
	for _, l := range locations {
		if len(l.path) > 1 && l.path[0] == "v2" {
			l.path = l.path[1:]
			locations = append(locations, l)
		}
	}
	return locations
}
