package cotter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// selectedProvider is a provider and the version of it that is to be installed.
type selectedProvider struct {
	requiredProvider
	version versions.Version
	// entry is the lock's entry; zero if there is none, or if it is for another
	// version.
	entry lockfile.Provider
}

// providerSelector selects one version of each provider for all modules together.
type providerSelector struct {
	session *session
	lock    *lockfile.File
	update  Update
	// updated are the providers that the request names for an update.
	updated []addrs.Provider
	rules   rules
	locked  bool
	offline bool
	events  *events
	// required are all providers, while they are selected.
	required []requiredProvider
}

// selectAll selects the versions of all providers side by side. Entries of the lock
// that do not decide are collected as reasons where the lock may not change. Nothing is
// asked if the request names a provider that is not required, or that a policy refuses.
func (s *providerSelector) selectAll(ctx context.Context, required []requiredProvider) ([]selectedProvider, *refusals, error) {
	s.required = required
	var refused refusals
	if err := s.check(); err != nil {
		return nil, &refused, err
	}
	selected := make([]selectedProvider, len(required))
	err := sideBySide(required, func(i int, p requiredProvider) (err error) {
		selected[i], err = s.selectOne(ctx, p, &refused)
		return err
	})
	return selected, &refused, err
}

// check checks what the request and the policies say of the required providers.
func (s *providerSelector) check() error {
	var errs []error
	for _, address := range s.updated {
		if !s.update.several && !slices.ContainsFunc(s.required, func(p requiredProvider) bool { return p.address == address }) {
			errs = append(errs, &ProviderError{Provider: address, Err: ErrNoSuchProvider})
		}
	}
	for _, p := range s.required {
		errs = append(errs, p.checkPolicy(s.rules))
	}
	return errors.Join(errs...)
}

// selectOne returns the locked version as long as it fits, and the newest one
// otherwise.
func (s *providerSelector) selectOne(ctx context.Context, p requiredProvider, refused *refusals) (selectedProvider, error) {
	entry, has := s.lock.Provider(p.address)
	locked, err := versions.Parse(entry.Version)
	fits := has && err == nil && p.fits(locked)
	if fits && s.locked && !proves(entry.Hashes) {
		return selectedProvider{}, refused.note(p.unprovenReason())
	}
	if fits && (s.locked || !s.moves(p)) {
		return selectedProvider{p, locked, entry}, nil
	}
	if s.locked {
		return selectedProvider{}, refused.note(p.lockedReason(entry, has))
	}
	listing, err := s.listing(ctx, p.address)
	if err != nil {
		return selectedProvider{}, p.fail("", s.explainListing(p, err))
	}
	for _, text := range listing.Warnings {
		s.events.warn(nil, fmt.Sprintf("provider %s: %s", p.address.ForDisplay(), text))
	}
	selected, err := versions.SelectProvider(listing.Numbers(), p.want)
	switch {
	case err != nil && len(listing.Versions) == 0:
		return selectedProvider{}, p.fail("", s.explainListing(p, fmt.Errorf("%w: %w", getproviders.ErrNotFound, err)))
	case err != nil:
		return selectedProvider{}, p.withAllowed(listing).fail("", err)
	case fits && selected.Compare(locked) < 0 && !s.update.AllowDowngrade:
		return selectedProvider{}, p.fail("", &DowngradeError{Locked: locked.String(), Selected: selected.String()})
	case selected != locked:
		entry = lockfile.Provider{}
	}
	return selectedProvider{p, selected, entry}, nil
}

// moves reports whether the newest version of a provider is to be selected, though the
// locked one fits. One that nothing but the lock has stays unless the request names it.
func (s *providerSelector) moves(p requiredProvider) bool {
	return s.updates(p.address) && (!p.isLockedOnly() || slices.Contains(s.updated, p.address))
}

// proves reports whether hashes of a lock can prove a package.
func proves(hashes []hashing.Hash) bool {
	return hasScheme(hashes, "h1") || hasScheme(hashes, "zh")
}

func hasScheme(hashes []hashing.Hash, scheme string) bool {
	return slices.ContainsFunc(hashes, func(h hashing.Hash) bool { return h.Scheme() == scheme })
}

// updates reports whether the newest version of a provider is to be selected, whatever
// the lock says.
func (s *providerSelector) updates(p addrs.Provider) bool {
	return s.update.All || slices.Contains(s.updated, p)
}

// listing returns the versions that there are of a provider. Its source is asked once.
func (s *providerSelector) listing(ctx context.Context, p addrs.Provider) (getproviders.Listing, error) {
	if s.offline {
		return getproviders.Listing{}, fmt.Errorf("its versions are not known: %w", ErrOffline)
	}
	return s.session.providerListings.Do(ctx, p, func(ctx context.Context) (getproviders.Listing, error) {
		return s.session.providers.Versions(ctx, p)
	})
}

// sideBySide runs work for all of a list at once, and joins what failed. What was
// refused has its reason elsewhere.
func sideBySide[T any](all []T, work func(int, T) error) error {
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, one := range all {
		wait.Go(func() {
			if err := work(i, one); !errors.Is(err, errRefused) {
				errs[i] = err
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}
