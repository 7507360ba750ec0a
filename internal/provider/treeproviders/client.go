package treeproviders

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/rules"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/providerfetch"
	"github.com/cotterpin/cotter/versions"
)

// Client is what the runs of one process share. The exported fields must not change once it is in use.
type Client struct {
	Source      getproviders.Source
	PluginCache getproviders.PluginCache
	// Open opens the user's store, once, when a run first needs it.
	Open func() *store.Providers

	slots    providerfetch.Slots
	opened   sync.Once
	store    *store.Providers
	listings singleflight.Memo[httpx.Shared[listingKey], getproviders.Listing]
	packages singleflight.Memo[httpx.Shared[packageKey], *providerfetch.Got]
	unlocked singleflight.Memo[httpx.Shared[packageKey], *providerfetch.Got]
	hashes   singleflight.Memo[httpx.Shared[packageKey], *providerfetch.Proof]
}

func (s *Client) Store() *store.Providers {
	s.opened.Do(func() { s.store = s.Open() })
	return s.store
}

// Getter returns one with the client's slots and store.
func (s *Client) Getter(source getproviders.Source) *providerfetch.Getter {
	return &providerfetch.Getter{Source: source, Slots: &s.slots, Store: s.Store()}
}

func (s *Client) Close() error {
	if s.store == nil {
		return nil
	}
	return s.store.Close()
}

type listingKey struct {
	provider addrs.Provider
	source   string // Stage.SourceKey
	mayReach bool   // Required.mayReach
}

// Listing requests the versions of a provider once per client and source, under the rules of the run.
// source and key are those of [Stage].
func (s *Client) Listing(ctx context.Context, all rules.Rules, source getproviders.Source, key string, p Required) (getproviders.Listing, error) {
	if source == nil {
		source, key = s.Source, ""
	}
	ctx = p.ruled(ctx, all)
	return s.listings.Do(ctx, httpx.Share(ctx, listingKey{p.Address, key, p.mayReach(ctx)}), func(ctx context.Context) (getproviders.Listing, error) {
		return source.Versions(ctx, p.Address)
	})
}

func (s *Client) knownListing(ctx context.Context, all rules.Rules, key string, p Required) (_ getproviders.Listing, ok bool, err error) {
	ctx = p.ruled(ctx, all)
	return s.listings.Known(httpx.Share(ctx, listingKey{p.Address, key, p.mayReach(ctx)}))
}

type packageKey struct {
	provider addrs.Provider
	version  versions.Version
	platform addrs.Platform
	locked   string // the lock's hashes
	rule     string // the kinds of evidence that are enough
	offers   string // Stage.OffersKey
	source   string // Stage.SourceKey
	complete bool   // Stage.completes
	// installed is Stage.Installed if the rule accepts what is installed.
	installed string
	mayReach  bool // Required.mayReach
}

func (s *Stage) keyOf(ctx context.Context, p Required, want providerfetch.Want) httpx.Shared[packageKey] {
	var locked strings.Builder
	for _, h := range want.Locked {
		locked.WriteString(string(h) + "\n")
	}
	believed := ""
	if s.Rule.AcceptsProvider(evidence.Evidence{Kind: evidence.Installed}) {
		believed = s.Installed
	}
	return httpx.Share(ctx, packageKey{want.Provider, want.Version, want.Platform, locked.String(), fmt.Sprint(s.Rule.Provider, s.Rule.Memos), s.OffersKey, s.SourceKey, s.completes(), believed, p.mayReach(ctx)})
}

func inParallel[T any](all []T, work func(int, T) error) []error {
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, one := range all {
		wait.Go(func() {
			errs[i] = work(i, one)
		})
	}
	wait.Wait()
	return errs
}
