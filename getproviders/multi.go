package getproviders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/versions"
)

const wildcard = "*"

// Pattern matches the addresses of providers. The zero value matches none.
type Pattern struct{ host, namespace, typ string }

// ParsePattern parses [HOST/]NAMESPACE/TYPE. The type can be "*"; only then the namespace, and only then
// the host. Two parts have the default host: "acme/*" does not match "example.com/acme/x". A defaultHost of
// "" is OpenTofu's. The error is an *[addrs.ParseError].
func ParsePattern(s string, defaultHost addrs.Hostname) (Pattern, error) {
	fault := func(reason string) (Pattern, error) {
		return Pattern{}, &addrs.ParseError{What: "provider pattern", Input: addrs.Redact(s), Reason: reason}
	}
	parts := strings.Split(s, "/")
	p := Pattern{host: string(cmp.Or(defaultHost, addrs.DefaultRegistryHost))}
	switch len(parts) {
	case 2:
	case 3:
		p.host = parts[0]
		if p.host != wildcard {
			host, err := addrs.ParseHostname(p.host)
			if err != nil {
				return fault(err.Error())
			}
			p.host = string(host)
		}
		parts = parts[1:]
	default:
		return fault("it must have two or three parts, [HOST/]NAMESPACE/TYPE")
	}
	p.namespace, p.typ = parts[0], parts[1]
	for _, name := range []*string{&p.namespace, &p.typ} {
		if *name == wildcard {
			continue
		}
		normal, ok := normalName(*name)
		if !ok {
			return fault("the names of a namespace and a type are letters, digits and dashes, or a single *")
		}
		*name = normal
	}
	switch {
	case p.namespace == wildcard && p.typ != wildcard:
		return fault("the namespace can only be * if the type is")
	case p.host == wildcard && p.namespace != wildcard:
		return fault("the host can only be * if the namespace and the type are")
	}
	return p, nil
}

// ExactPattern returns the pattern for one provider.
func ExactPattern(provider addrs.Provider) Pattern {
	return Pattern{string(provider.Hostname), provider.Namespace, provider.Type}
}

// normalName uses the parser for namespaces, which also accepts names that are refused as types because of
// their prefix, such as "terraform-x".
func normalName(name string) (string, bool) {
	if name == "-" || strings.Contains(name, "/") {
		return "", false
	}
	found, err := addrs.ParseProviderSource(name + "/x")
	return found.Namespace, err == nil
}

// Matches reports whether the pattern matches a provider.
func (p Pattern) Matches(provider addrs.Provider) bool {
	return (p.host == wildcard || p.host == string(provider.Hostname)) &&
		(p.namespace == wildcard || p.namespace == provider.Namespace) &&
		(p.typ == wildcard || p.typ == provider.Type)
}

// Fixed returns the parts that are not "*", and "" for the others.
func (p Pattern) Fixed() (host addrs.Hostname, namespace, typ string) {
	fixed := func(part string) string {
		if part == wildcard {
			return ""
		}
		return part
	}
	return addrs.Hostname(fixed(p.host)), fixed(p.namespace), fixed(p.typ)
}

func (p Pattern) String() string {
	if p == (Pattern{}) {
		return ""
	}
	host := p.host
	if host != wildcard && host != "" {
		host = addrs.Hostname(host).ForDisplay()
	}
	return host + "/" + p.namespace + "/" + p.typ
}

// MarshalText returns [Pattern.String]. The error is nil.
func (p Pattern) MarshalText() (text []byte, err error) { return []byte(p.String()), nil }

// UnmarshalText is ParsePattern with OpenTofu's host; the empty text is the zero value.
func (p *Pattern) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*p = Pattern{}
		return nil
	}
	*p, err = ParsePattern(string(text), "")
	return err
}

// LogValue returns the pattern as a string.
func (p Pattern) LogValue() slog.Value { return slog.StringValue(p.String()) }

// Method is a Source for the providers that a pattern in Include (or none) and no pattern in Exclude
// matches.
type Method struct {
	// Source may be nil, for no providers.
	Source           Source
	Include, Exclude []Pattern
}

// Covers reports whether the method applies to a provider.
func (m Method) Covers(provider addrs.Provider) bool {
	matches := func(p Pattern) bool { return p.Matches(provider) }
	return !slices.ContainsFunc(m.Exclude, matches) &&
		(len(m.Include) == 0 || slices.ContainsFunc(m.Include, matches))
}

func (m Method) source() Source {
	if m.Source == nil {
		return Multi(nil)
	}
	return m.Source
}

// Multi is a Source of several methods in order of precedence. The versions of a provider are the union of
// all methods that cover it, and a package comes from the first that has it for the platform. There is no
// fallback: a version that a mirror has only for another platform can be selected, and its package then
// fails. Any failure but a missing provider or package ends the search.
type Multi []Method

var _ Source = Multi(nil)

// Versions implements [Source], and queries all methods concurrently. The error is a *[SearchError] or that
// of a method.
func (m Multi) Versions(ctx context.Context, provider addrs.Provider) (Listing, error) {
	methods := m.covering(provider)
	listings, failures := make([]Listing, len(methods)), make([]error, len(methods))
	var asked sync.WaitGroup
	for i, method := range methods {
		asked.Go(func() { listings[i], failures[i] = method.source().Versions(ctx, provider) })
	}
	asked.Wait()
	missing := &SearchError{Provider: provider}
	for _, err := range failures {
		if err != nil && !isMissing(err) {
			return Listing{}, err
		}
		if err != nil {
			missing.Errs = append(missing.Errs, err)
		}
	}
	if len(missing.Errs) == len(methods) {
		return Listing{}, missing
	}
	return mergeListings(listings...), nil
}

// Package implements [Source]. The error is a *[SearchError] or that of a method.
func (m Multi) Package(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (Package, error) {
	missing := &SearchError{Provider: provider, Version: version, Platform: platform}
	for _, method := range m.covering(provider) {
		found, err := method.source().Package(ctx, provider, version, platform)
		if err == nil {
			return found, nil
		}
		if !isMissing(err) {
			return nil, err
		}
		missing.Errs = append(missing.Errs, err)
	}
	return nil, missing
}

// Evidence implements [Source] for all methods that cover the provider.
func (m Multi) Evidence(provider addrs.Provider) []evidence.Evidence {
	var all []evidence.Evidence
	for _, method := range m.covering(provider) {
		all = append(all, method.source().Evidence(provider)...)
	}
	return all
}

// Local implements [Source].
func (m Multi) Local() Source {
	local := make(Multi, len(m))
	for i, method := range m {
		local[i] = Method{Source: method.source().Local(), Include: method.Include, Exclude: method.Exclude}
	}
	return local
}

func (m Multi) covering(provider addrs.Provider) []Method {
	return slices.DeleteFunc(slices.Clone(m), func(method Method) bool { return !method.Covers(provider) })
}

func isMissing(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrUnsupportedPlatform)
}

// mergeListings returns the union. The platforms of a version are unknown if one listing lacks them.
func mergeListings(listings ...Listing) Listing {
	var merged Listing
	index := make(map[versions.Version]int)
	for _, listing := range listings {
		merged.Warnings = append(merged.Warnings, listing.Warnings...)
		for _, v := range listing.Versions {
			i, ok := index[v.Version]
			if !ok {
				index[v.Version] = len(merged.Versions)
				merged.Versions = append(merged.Versions, v)
				continue
			}
			known := &merged.Versions[i]
			known.Platforms = mergePlatforms(known.Platforms, v.Platforms)
			known.Incompatible = known.Incompatible && v.Incompatible
		}
	}
	return merged
}

func mergePlatforms(some, others []addrs.Platform) []addrs.Platform {
	if some == nil || others == nil {
		return nil
	}
	all := slices.Clone(some)
	for _, p := range others {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// SearchError is returned if none of several sources has a provider or package. It wraps
// [ErrUnsupportedPlatform] if one has the version for other platforms, or else [ErrNotFound].
type SearchError struct {
	Provider addrs.Provider
	// Version and Platform are zero if the provider was not found at all.
	Version  versions.Version
	Platform addrs.Platform
	// Errs are the errors of the searched sources, in order; none if no source covers the provider.
	Errs []error
}

func (e *SearchError) Error() string {
	what := fmt.Sprintf("provider %s", e.Provider)
	if !e.Version.IsZero() {
		what += fmt.Sprintf(" %s for %s", e.Version, e.Platform)
	}
	if len(e.Errs) == 0 {
		return what + ": no source is configured for it"
	}
	reasons := make([]string, len(e.Errs))
	for i, err := range e.Errs {
		reasons[i] = err.Error()
	}
	return strings.Join(reasons, "; ")
}

// Unwrap returns the errors that explain the failure.
func (e *SearchError) Unwrap() []error {
	unsupported := slices.DeleteFunc(slices.Clone(e.Errs), func(err error) bool { return !errors.Is(err, ErrUnsupportedPlatform) })
	switch {
	case len(unsupported) > 0:
		return unsupported
	case len(e.Errs) > 0:
		return e.Errs
	}
	return []error{ErrNotFound}
}
