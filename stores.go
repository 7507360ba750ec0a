package cotter

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

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
	// Source, Version, Package and Hashes are those of the entry.
	Source, Version, Package string
	Hashes                   []hashing.Hash
	// Tag is the tag of the artifact.
	Tag string
	// Err is why the artifact is not what its entry says; nil if it is.
	Err error
}

// StoreHas reports whether a store has the artifact of an entry. It asks for the manifest
// alone. A store that has something else under its tag does not have it; the error is
// about the store.
func StoreHas(ctx context.Context, store PackageStore, entry lockfile.Module) (bool, error) {
	return stores.Has(ctx, store, modpkg.StatementOf(entry))
}

// VerifyStore fetches, extracts and hashes all packages of a store and compares them with
// their entries, and checks that the artifacts confirm them. It asks nothing but the store, and keeps nothing. The entries are in the
// order of their sources and versions. The error is about what concerns all of them.
func (in *Installer) VerifyStore(ctx context.Context, store ListedStore) ([]StoreEntry, error) {
	alone := *in
	alone.CacheDir = ""
	return alone.readStore(ctx, store, func(*session, modpkg.Statement) error { return nil })
}

// ImportStore puts all packages of a store into the cache, and records their entries as
// confirmed for this user, so that later runs need no origin for them: who imports a
// store trusts it. Damaged packages are not imported; their entries have an Err. The
// entries and the error are as for VerifyStore.
func (in *Installer) ImportStore(ctx context.Context, store ListedStore) ([]StoreEntry, error) {
	if in.CacheDir == "" {
		return nil, errors.New("there is no cache to import into")
	}
	return in.readStore(ctx, store, func(s *session, statement modpkg.Statement) error {
		if s.CacheErr != nil {
			return s.CacheErr
		}
		return s.Cache.Confirm(lockentry.Records(statement)...)
	})
}

// readStore fetches all packages of a store into the cache and calls use for those that
// are what their entries say.
func (in *Installer) readStore(ctx context.Context, store ListedStore, use func(*session, modpkg.Statement) error) ([]StoreEntry, error) {
	tags, err := store.Tags(ctx)
	if err != nil {
		return nil, err
	}
	tags = slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return !strings.HasPrefix(tag, modpkg.EntryTag) })
	events := &events{fn: in.OnEvent}
	key, err := in.userKey(events)
	if err != nil {
		return nil, err
	}
	own := *in
	own.Stores, own.shared = []PackageStore{store}, nil
	s, done, err := own.sharedSession(key)
	if err != nil {
		return nil, err
	}
	defer done()
	stored := &stores.Stores{Session: s.stores, Check: checkStatement, OnEvent: events.ofOrigins}
	entries := make([]StoreEntry, len(tags))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(in.parallel())
	for i, tag := range tags {
		group.Go(func() error {
			found, err := stores.ArtifactOf(ctx, store, tag)
			if err == nil {
				err = stored.FetchArtifact(ctx, 0, found)
			}
			if err == nil {
				err = found.Distrust
			}
			st := found.Statement
			entries[i] = StoreEntry{st.Source, st.Version, st.Package, st.Hashes, tag, err}
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
