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
}

// selectAll selects the versions of all providers side by side. Entries of the lock
// that do not decide are collected as reasons where the lock may not change.
func (s *providerSelector) selectAll(ctx context.Context, required []requiredProvider) ([]selectedProvider, *refusals, error) {
	selected := make([]selectedProvider, len(required))
	var refused refusals
	err := sideBySide(required, func(i int, p requiredProvider) error {
		if err := p.checkPolicy(s.rules); err != nil {
			return err
		}
		var err error
		selected[i], err = s.selectOne(ctx, p, &refused)
		return err
	})
	return selected, &refused, err
}

// selectOne returns the locked version as long as it fits, and the newest one
// otherwise.
func (s *providerSelector) selectOne(ctx context.Context, p requiredProvider, refused *refusals) (selectedProvider, error) {
	entry, has := s.lock.Provider(p.address)
	if has && !s.updates(p.address) {
		version, err := versions.Parse(entry.Version)
		fits := err == nil && p.want.Allows(version)
		switch {
		case fits && s.locked && !proves(entry.Hashes):
			return selectedProvider{}, refused.note(p.lockedReason(false, "the lock has no h1: or zh: hash of it"))
		case fits:
			return selectedProvider{p, version, entry}, nil
		case s.locked:
			return selectedProvider{}, refused.note(p.lockedReason(false, "the lock has version %s, and the configuration asks for %q", entry.Version, p.want))
		}
	} else if s.locked {
		return selectedProvider{}, refused.note(p.lockedReason(true, "the lock has no entry for it"))
	}
	listing, err := s.listing(ctx, p.address)
	if err != nil {
		return selectedProvider{}, p.fail("", err)
	}
	for _, text := range listing.Warnings {
		s.events.warn(nil, fmt.Sprintf("provider %s: %s", p.address.ForDisplay(), text))
	}
	version, err := versions.SelectProvider(listing.Numbers(), p.want)
	if err != nil {
		return selectedProvider{}, p.fail("", err)
	}
	if locked, err := versions.Parse(entry.Version); err == nil && has {
		if version.Compare(locked) < 0 && p.want.Allows(locked) && !s.update.AllowDowngrade {
			return selectedProvider{}, p.fail("", &DowngradeError{Locked: locked.String(), Selected: version.String()})
		}
		if locked != version {
			entry = lockfile.Provider{}
		}
	}
	return selectedProvider{p, version, entry}, nil
}

// proves reports whether hashes of a lock can prove a package.
func proves(hashes []hashing.Hash) bool {
	return slices.ContainsFunc(hashes, func(h hashing.Hash) bool { return h.Scheme() == "h1" || h.Scheme() == "zh" })
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
