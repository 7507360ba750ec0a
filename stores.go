package cotter

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/stores"
	"github.com/cotterpin/cotter/lockfile"
)

// ListedStore is a PackageStore that knows what it has.
type ListedStore interface {
	PackageStore
	// Tags returns the tags of all manifests, in any order.
	Tags(ctx context.Context) ([]string, error)
}

// StoreEntry is what a store has for one entry of a lock.
type StoreEntry struct {
	// Source, Version, Package and Hashes are those of the entry. For a provider, Source
	// is its address, Package is empty, and Hashes are those of the package for Platform.
	Source, Version, Package string
	Hashes                   []hashing.Hash
	// Platform is zero for modules.
	Platform addrs.Platform
	// Tag is the tag of the artifact.
	Tag string
	// Err is why the artifact is not what its entry says; nil if it is.
	Err error
}

// StoreHas reports whether a store has the artifact of an entry, and why that does not
// confirm the entry: distrust is nil if it does. It asks for the manifest alone. A store
// that has something else under its tag does not have it; err is about the store.
func StoreHas(ctx context.Context, store PackageStore, entry lockfile.Module) (has bool, distrust, err error) {
	return stores.Has(ctx, store, modpkg.StatementOf(entry))
}

// StoredProvider is what a store has for a locked provider and a platform.
type StoredProvider = stores.ProviderState

// What a store can have: nothing for the platform, a package of which the lock has no hash,
// or one of which it has one.
const (
	StoredNot    = stores.ProviderMissing
	StoredOther  = stores.ProviderOther
	StoredLocked = stores.ProviderLocked
)

// StoreHasProvider returns what a store has of a locked provider for a platform. It asks
// for the index and the manifest alone. distrust is why the artifact does not confirm what
// it says. err is about the store.
func StoreHasProvider(ctx context.Context, store PackageStore, entry lockfile.Provider, platform addrs.Platform) (has StoredProvider, distrust, err error) {
	return stores.HasProvider(ctx, store, entry, platform)
}

// MissingPlatformError says that a store has the version of a provider, but not for the
// platform that is wanted.
type MissingPlatformError = stores.MissingPlatformError

// VerifyStore fetches, extracts and hashes all packages of a store and compares them with
// their entries, and checks that the artifacts confirm them. It asks nothing but the store, and keeps nothing. The entries are in the
// order of their sources and versions, those of providers last. The error is about what concerns all of them.
func (in *Installer) VerifyStore(ctx context.Context, store ListedStore) ([]StoreEntry, error) {
	alone := *in
	alone.CacheDir = ""
	return alone.readStore(ctx, store, false, func(*session, modpkg.Statement) error { return nil })
}

// ImportStore puts all packages of a store into the cache, and records their entries as
// confirmed for this user, so that later runs need no origin for them: who imports a
// store trusts it. Of the packages of providers for other platforms only the hashes are
// kept. Damaged packages are not imported; their entries have an Err. The
// entries and the error are as for VerifyStore.
func (in *Installer) ImportStore(ctx context.Context, store ListedStore) ([]StoreEntry, error) {
	if in.CacheDir == "" {
		return nil, errors.New("there is no cache to import into")
	}
	return in.readStore(ctx, store, true, func(s *session, statement modpkg.Statement) error {
		if s.CacheErr != nil {
			return s.CacheErr
		}
		return s.Cache.Confirm(lockentry.Records(statement)...)
	})
}

// readStore fetches all packages of a store into the cache and calls use for those of
// modules that are what their entries say. keep says that those of providers are kept.
func (in *Installer) readStore(ctx context.Context, store ListedStore, keep bool, use func(*session, modpkg.Statement) error) ([]StoreEntry, error) {
	all, err := store.Tags(ctx)
	if err != nil {
		return nil, err
	}
	tags := slices.DeleteFunc(slices.Clone(all), func(tag string) bool { return !strings.HasPrefix(tag, modpkg.EntryTag) })
	events := &events{fn: in.OnEvent}
	key, err := in.userKey(events)
	if err != nil {
		return nil, err
	}
	own := *in
	own.Stores, own.shared = nil, nil
	s, done, err := own.sharedSession(key)
	if err != nil {
		return nil, err
	}
	defer done()
	stored, at := s.storesOf(Request{}, events), s.stores.ID(store)
	entries := make([]StoreEntry, len(tags))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(in.parallel())
	for i, tag := range tags {
		group.Go(func() error {
			ctx := groupCtx
			found, err := stores.ArtifactOf(ctx, store, tag)
			if err == nil {
				err = stored.FetchArtifact(ctx, at, found)
			}
			if err == nil {
				err = found.Distrust
			}
			st := found.Statement
			entries[i] = StoreEntry{Source: st.Source, Version: st.Version, Package: st.Package, Hashes: st.Hashes, Tag: tag, Err: err}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return nil // the others go on
			}
			return use(s, st)
		})
	}
	err = group.Wait()
	slices.SortFunc(entries, func(a, b StoreEntry) int {
		return strings.Compare(a.Source+"\x00"+a.Version+a.Tag, b.Source+"\x00"+b.Version+b.Tag)
	})
	if err != nil {
		return entries, err
	}
	ofProviders, err := in.readProviders(ctx, s, store, all, keep)
	return append(entries, ofProviders...), err
}

// readProviders gets all packages of providers that a store has, by its tags. Those for this
// platform are kept, or the hashes of all computed.
func (in *Installer) readProviders(ctx context.Context, s *session, store PackageStore, tags []string, keep bool) ([]StoreEntry, error) {
	if keep && s.CacheErr != nil {
		return nil, s.CacheErr
	}
	found := make([][]StoreEntry, len(tags))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(in.parallel())
	for i, tag := range tags {
		if !strings.HasPrefix(tag, modpkg.ProviderTag) {
			continue
		}
		group.Go(func() error {
			for _, p := range stores.ReadRelease(ctx, store, tag, s.providers.Getter, keep) {
				entry := StoreEntry{Platform: p.Platform, Hashes: p.Hashes, Tag: tag, Err: p.Err}
				if !p.Release.Version.IsZero() {
					entry.Source, entry.Version = p.Release.Provider.String(), p.Release.Version.String()
				}
				found[i] = append(found[i], entry)
			}
			return ctx.Err()
		})
	}
	err := group.Wait()
	entries := slices.Concat(found...)
	slices.SortFunc(entries, func(a, b StoreEntry) int {
		return strings.Compare(a.Source+"\x00"+a.Version+"\x00"+a.Platform.String(), b.Source+"\x00"+b.Version+"\x00"+b.Platform.String())
	})
	return entries, err
}

// checkStatement compares a tree with the hashes of a statement.
func checkStatement(s modpkg.Statement, tree *pkgtree.Tree) error {
	mismatch := &HashMismatchError{Package: s.Package}
	for _, scheme := range []string{"h1", "t1"} {
		if want, got := s.Hash(scheme), tree.Hash(scheme); want != "" && got != want {
			mismatch.Want, mismatch.Got = append(mismatch.Want, want), append(mismatch.Got, got)
		}
	}
	if mismatch.Want != nil {
		return mismatch
	}
	return nil
}
