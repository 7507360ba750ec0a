package cotter

import (
	"fmt"
	"slices"
)

// ofSeveral returns an update for one of several projects, which need not have all calls
// and providers that it names.
func (u Update) ofSeveral() Update {
	u.several = true
	return u
}

// missing returns the errors of what an update names and none of several projects has.
func (u Update) missing(results []*Result) []error {
	var errs []error
	for _, key := range u.Keys {
		if !slices.ContainsFunc(results, func(r *Result) bool { return r.hasCall(key) }) {
			errs = append(errs, fmt.Errorf("%q: %w", key, ErrNoSuchCall))
		}
	}
	for _, address := range u.Providers {
		if !slices.ContainsFunc(results, func(r *Result) bool { return r.requires(address) }) {
			errs = append(errs, fmt.Errorf("provider %s: %w", address, ErrNoSuchProvider))
		}
	}
	return errs
}

// hasCall reports whether the lock has an entry for a call.
func (r *Result) hasCall(key string) bool {
	return slices.ContainsFunc(r.Modules, func(m Module) bool { return m.Path.String() == key && m.Package != "" })
}

// requires reports whether the lock has a provider, by its address in a configuration.
func (r *Result) requires(address string) bool {
	provider, err := r.Dialect.parser().ParseProviderSource(address)
	return err == nil && slices.ContainsFunc(r.Providers, func(p Provider) bool { return p.Address == provider })
}
