package getproviders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// Method is a Source for some providers: those that a pattern of Include matches, or
// all if it is empty, without those that a pattern of Exclude matches.
type Method struct {
	Source           Source
	Include, Exclude []Pattern
}

// Covers reports whether the method is for a provider.
func (m Method) Covers(provider addrs.Provider) bool {
	matches := func(p Pattern) bool { return p.Matches(provider) }
	return !slices.ContainsFunc(m.Exclude, matches) &&
		(len(m.Include) == 0 || slices.ContainsFunc(m.Include, matches))
}

// Multi is the Source of several methods, in the order of their precedence.
//
// The versions of a provider are the union of those of all methods that cover it. Its
// package comes from the first of them that has it for the platform. There is no
// fallback to an older version: one that a mirror has for another platform only can be
// selected, and then fails. A method that fails otherwise than by not having the
// provider or the package ends the search.
type Multi []Method

var _ Source = Multi(nil)

// Versions implements [Source]. All methods are asked at the same time. The error is a
// *[SearchError], or that of a method.
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

// Package implements [Source]. The error is a *[SearchError], or that of a method.
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

func (m Multi) covering(provider addrs.Provider) []Method {
	return slices.DeleteFunc(slices.Clone(m), func(method Method) bool { return !method.Covers(provider) })
}

func isMissing(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrUnsupportedPlatform)
}

// mergeListings returns the union of listings. The platforms of a version are unknown
// if one of the listings does not have them.
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

// SearchError is returned if none of several sources has a provider, or a package of
// it. It wraps [ErrUnsupportedPlatform] if one of them has the version for other
// platforms, else [ErrNotFound].
type SearchError struct {
	Provider addrs.Provider
	// Version and Platform are zero if the provider was not found at all.
	Version  versions.Version
	Platform addrs.Platform
	// Errs are those of the sources that were searched, in their order; none if no
	// source covers the provider.
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

// Unwrap returns the errors that say why.
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
