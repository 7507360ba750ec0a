package treeproviders

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/versions"
)

// Session is what the runs of one process share. The exported fields must be set and do
// not change.
type Session struct {
	Source      getproviders.Source
	PluginCache getproviders.PluginCache
	// Open opens the user's store of packages. It is called once, if a run needs it.
	Open func() *providerstore.Store

	slots    providers.Slots
	opened   sync.Once
	store    *providerstore.Store
	listings singleflight.Memo[addrs.Provider, getproviders.Listing]
	packages singleflight.Memo[packageKey, *providers.Got]
	hashes   singleflight.Memo[packageKey, *providers.Proof]
}

// Store returns the user's store.
func (s *Session) Store() *providerstore.Store {
	s.opened.Do(func() { s.store = s.Open() })
	return s.store
}

// Getter returns a Getter for a source, with the slots and the store of the session.
func (s *Session) Getter(source getproviders.Source) *providers.Getter {
	return &providers.Getter{Source: source, Slots: &s.slots, Store: s.Store()}
}

// Wait waits for the end of work that was cancelled.
func (s *Session) Wait() { s.packages.Wait() }

// Close closes the store.
func (s *Session) Close() error {
	if s.store == nil {
		return nil
	}
	return s.store.Close()
}

// Listing returns the versions that there are of a provider.
func (s *Session) Listing(ctx context.Context, p addrs.Provider) (getproviders.Listing, error) {
	return s.listings.Do(ctx, p, func(ctx context.Context) (getproviders.Listing, error) {
		return s.Source.Versions(ctx, p)
	})
}

// packageKey is what makes two packages of providers the same.
type packageKey struct {
	provider addrs.Provider
	version  versions.Version
	platform addrs.Platform
	locked   string // the lock's hashes
	offers   string // Stage.OffersKey
}

func keyOf(want providers.Want) packageKey {
	var locked strings.Builder
	for _, h := range want.Locked {
		locked.WriteString(string(h) + "\n")
	}
	return packageKey{want.Provider, want.Version, want.Platform, locked.String(), ""}
}

// errRefused marks a provider that is among the refusals.
var errRefused = errors.New("the lock may not change")

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
