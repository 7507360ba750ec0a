package getproviders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/versions"
)

// Method is a Source for some providers. They are the providers that a pattern in Include
// matches, or all providers if Include is empty, except those that a pattern in Exclude matches.
type Method struct {
	Source           Source
	Include, Exclude []Pattern
}

// Covers reports whether the method applies to a provider.
func (m Method) Covers(provider addrs.Provider) bool {
	matches := func(p Pattern) bool { return p.Matches(provider) }
	return !slices.ContainsFunc(m.Exclude, matches) &&
		(len(m.Include) == 0 || slices.ContainsFunc(m.Include, matches))
}

// Multi is a Source that consists of several methods in order of precedence.
//
// The versions of a provider are the union of the versions from all methods that cover it. A
// package comes from the first of these methods that has it for the platform. There is no
// fallback to an older version: if a mirror has a version only for another platform, that version
// can be selected, and getting its package then fails. If a method fails for any reason other
// than a missing provider or package, the search ends.
type Multi []Method

var _ Source = Multi(nil)

// Versions implements [Source]. It queries all methods concurrently. The error is a
// *[SearchError] or the error of a method.
func (m Multi) Versions(ctx context.Context, provider addrs.Provider) (Listing, error) {
	methods := m.covering(provider)
	listings, failures := make([]Listing, len(methods)), make([]error, len(methods))
	var asked sync.WaitGroup
	for i, method := range methods {
		asked.Go(func() { listings[i], failures[i] = method.Source.Versions(ctx, provider) })
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

// Package implements [Source]. The error is a *[SearchError] or the error of a method.
func (m Multi) Package(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (Package, error) {
	missing := &SearchError{Provider: provider, Version: version, Platform: platform}
	for _, method := range m.covering(provider) {
		found, err := method.Source.Package(ctx, provider, version, platform)
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

// Evidence implements [Source]. It joins the evidence of all methods that cover the provider.
func (m Multi) Evidence(provider addrs.Provider) []evidence.Evidence {
	var all []evidence.Evidence
	for _, method := range m.covering(provider) {
		all = append(all, method.Source.Evidence(provider)...)
	}
	return all
}

// Local implements [Source].
func (m Multi) Local() Source {
	local := make(Multi, len(m))
	for i, method := range m {
		local[i] = Method{Source: method.Source.Local(), Include: method.Include, Exclude: method.Exclude}
	}
	return local
}

func (m Multi) covering(provider addrs.Provider) []Method {
	return slices.DeleteFunc(slices.Clone(m), func(method Method) bool { return !method.Covers(provider) })
}

func isMissing(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrUnsupportedPlatform)
}

// mergeListings returns the union of listings. The platforms of a version are unknown if one of
// the listings does not have them.
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

// SearchError is returned if none of several sources has a provider or a package of it. It wraps
// [ErrUnsupportedPlatform] if one of them has the version for other platforms, and [ErrNotFound]
// otherwise.
type SearchError struct {
	Provider addrs.Provider
	// Version and Platform are zero if the provider was not found at all.
	Version  versions.Version
	Platform addrs.Platform
	// Errs are the errors of the searched sources, in order. It is empty if no source covers the
	// provider.
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

// Unwrap returns the errors of the sources that explain the failure.
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
