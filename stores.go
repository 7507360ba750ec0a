package cotter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/ocilayout"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// PackageStore has packages of locks besides their origins, as OCI artifacts in the
// form that OpenTofu installs. *bundle.Bundle and *mirror.Mirror are stores.
// Implementations must be safe for concurrent use.
//
// What comes from a store is compared with the hashes of the lock, as everything else
// is. Beyond that a store can confirm entries as an origin does: one that has an artifact
// with just what the entry says (source, version, package and hashes) is not asked to
// prove it. CheckTrust decides. It must refuse for a store that is named by a repository
// and not by the user, on the command line, in the environment or in the user's own
// settings: the repository's author could make the store confirm any lock. Such a store
// delivers the packages of entries that are confirmed otherwise.
type PackageStore interface {
	// Name is the store's name in messages.
	Name() string
	// IsLocal reports whether the store can be read in offline mode.
	IsLocal() bool
	// Manifest returns the manifest to which a tag points. The error wraps
	// fs.ErrNotExist if there is no such tag.
	Manifest(ctx context.Context, tag string) ([]byte, error)
	// CheckTrust returns nil if an artifact, by the manifest that Manifest returned,
	// confirms the entry of a lock that is in it. Otherwise the error is why not, in words
	// that are the same for all artifacts with the same defect: ErrDeliversOnly if the
	// store confirms no entries.
	CheckTrust(manifest []byte) error
	// Blob writes a blob to the start of a file and checks its digest and size.
	Blob(ctx context.Context, digest string, size int64, file *os.File) error
	// ProviderIndex returns the index of the packages that the store has of a version of a
	// provider. The error wraps fs.ErrNotExist if it has none. A store that is no place for
	// providers has none of any.
	ProviderIndex(ctx context.Context, provider addrs.Provider, version versions.Version) ([]byte, error)
	// ProviderManifest returns a manifest of such an index, by its digest and size.
	// CheckTrust takes it too.
	ProviderManifest(ctx context.Context, provider addrs.Provider, digest string, size int64) ([]byte, error)
	// ProviderBlob is Blob for the archive of a provider. progress, which may be nil, is
	// told the bytes that have arrived and the total.
	ProviderBlob(ctx context.Context, provider addrs.Provider, digest string, size int64, file *os.File, progress func(done, total int64)) error
}

// ErrDeliversOnly means that a [PackageStore] does not confirm entries. It is no failure:
// runs ask the origins.
var ErrDeliversOnly = errors.New("it delivers packages, but confirms no entries")

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
	found, err := artifactOf(ctx, store, modpkg.StatementOf(entry).Tag())
	if errors.Is(err, fs.ErrNotExist) || isOfArtifact(err) {
		return false, nil, nil
	}
	return err == nil, found.distrust, err
}

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
// store trusts it. Of the packages of providers for other platforms only the hashes are kept. Damaged packages are not imported; their entries have an Err. The
// entries and the error are as for VerifyStore.
func (in *Installer) ImportStore(ctx context.Context, store ListedStore) ([]StoreEntry, error) {
	if in.CacheDir == "" {
		return nil, errors.New("there is no cache to import into")
	}
	return in.readStore(ctx, store, true, func(s *session, statement modpkg.Statement) error {
		if s.cacheErr != nil {
			return s.cacheErr
		}
		return s.cache.Confirm(recordsOf(statement)...)
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
	own.Stores, own.shared = []PackageStore{store}, nil
	s, done, err := own.sharedSession(key)
	if err != nil {
		return nil, err
	}
	defer done()
	stored := &storedEntries{session: s, events: events, stores: s.storesOf(Request{})} // the one store
	entries := make([]StoreEntry, len(tags))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(in.parallel())
	for i, tag := range tags {
		group.Go(func() error {
			ctx := groupCtx
			found, err := artifactOf(ctx, store, tag)
			if err == nil {
				_, err = stored.fetchArtifact(ctx, stored.stores[0], found.Artifact)
			}
			if err == nil {
				err = found.distrust
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
	providers, err := own.readProviders(ctx, s, all, keep)
	return append(entries, providers...), err
}

// storedPackages is what the stores of a session have, as far as it is known.
type storedPackages struct {
	artifacts singleflight.Memo[storeKey, storedArtifact]
	trees     singleflight.Memo[storeKey, *pkgtree.Tree]

	mu sync.Mutex
	// stores are those of all projects.
	stores []PackageStore
	// failed are the stores that could not be used. They are not asked again.
	failed map[storeID]bool
}

// storedArtifact is an artifact of a store.
type storedArtifact struct {
	modpkg.Artifact
	// distrust is why the artifact does not confirm its entry; nil if it does.
	distrust error
}

// storeID is the number of a store in a session.
type storeID int

// storeKey is a tag or a digest in a store.
type storeKey struct {
	store storeID
	name  string
}

// storesOf returns the stores of a project, in the order in which they are asked.
func (s *session) storesOf(req Request) (ids []storeID) {
	for _, store := range slices.Concat(req.Stores, s.stores) {
		ids = append(ids, s.stored.id(store))
	}
	return ids
}

// id returns the number of a store.
func (s *storedPackages) id(store PackageStore) storeID {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, known := range s.stores {
		if reflect.ValueOf(known).Comparable() && known == store {
			return storeID(i)
		}
	}
	s.stores = append(s.stores, store)
	return storeID(len(s.stores) - 1)
}

// store returns the store with a number.
func (s *storedPackages) store(id storeID) PackageStore {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stores[id]
}

// storedEntries are the entries of a lock that the stores of a session have.
type storedEntries struct {
	*session
	stores  []storeID
	offline bool
	events  *events
}

// confirms reports whether a store has the artifact of an entry, and is trusted to confirm
// it. A store that does not answer, or that has something else under its tag or the wrong
// signature, is a warning: the origin is asked.
func (s *storedEntries) confirms(ctx context.Context, c *call, entry lockfile.Module) bool {
	_, _, ok := s.find(ctx, c, entry, func(store PackageStore, found storedArtifact) bool {
		if found.distrust != nil && !errors.Is(found.distrust, ErrDeliversOnly) {
			s.events.warn(nil, distrusted(store.Name(), found.distrust))
		}
		return found.distrust == nil
	})
	return ok
}

// distrusted is the warning that a store does not confirm what it could.
func distrusted(store string, why error) string {
	return fmt.Sprintf("%s does not confirm what it has, so the origins are asked: %s", store, why)
}

// fetch fetches the package of an entry from a store into the cache, and reports
// whether it did. Failures are warnings: the origin is asked.
func (s *storedEntries) fetch(ctx context.Context, c *call, entry lockfile.Module) bool {
	at, found, ok := s.find(ctx, c, entry, func(PackageStore, storedArtifact) bool { return true })
	if !ok {
		return false
	}
	_, err := s.fetchArtifact(ctx, at, found.Artifact)
	if err != nil && ctx.Err() == nil {
		s.events.warn(c.path, fmt.Sprintf("its package in %s cannot be used: %s", s.stored.store(at).Name(), err))
	}
	return err == nil
}

// find returns the artifact of an entry, and the number of the first store that has it and
// is good enough.
func (s *storedEntries) find(ctx context.Context, c *call, entry lockfile.Module, good func(PackageStore, storedArtifact) bool) (storeID, storedArtifact, bool) {
	pkg, _ := lockedPackage(entry)
	if c.fromPackage() && pkg.Getter() == "file" {
		return 0, storedArtifact{}, false // which its origin refuses
	}
	for _, i := range s.stores {
		store := s.stored.store(i)
		if s.offline && !store.IsLocal() || s.stored.hasFailed(i) {
			continue
		}
		found, err := s.artifact(ctx, i, modpkg.StatementOf(entry))
		switch {
		case err == nil:
			if good(store, found) {
				return i, found, true
			}
		case ctx.Err() != nil:
			return 0, storedArtifact{}, false
		case errors.Is(err, fs.ErrNotExist):
		case isOfArtifact(err):
			s.events.warn(c.path, fmt.Sprintf("its package in %s cannot be used: %s", store.Name(), err))
		case s.stored.fail(i):
			s.events.warn(nil, fmt.Sprintf("%s cannot be used, so the origins are asked: %s", store.Name(), err))
		}
	}
	return 0, storedArtifact{}, false
}

// artifact returns the artifact with a statement in a store.
func (s *storedEntries) artifact(ctx context.Context, at storeID, statement modpkg.Statement) (storedArtifact, error) {
	tag := statement.Tag()
	return s.stored.artifacts.Do(ctx, storeKey{at, tag}, func(ctx context.Context) (storedArtifact, error) {
		done, err := s.slot(ctx)
		if err != nil {
			return storedArtifact{}, err
		}
		defer done()
		return artifactOf(ctx, s.stored.store(at), tag)
	})
}

// errOtherEntry says that the tag of an entry points to the artifact of another one.
var errOtherEntry = errors.New("its tag points to the artifact of another entry")

// isOfArtifact reports whether an error is about one artifact and not about its store.
func isOfArtifact(err error) bool {
	for _, about := range []error{modpkg.ErrManifest, errOtherEntry, ocilayout.ErrLayout, getmodules.ErrOCIContent, getmodules.ErrTooLarge} {
		if errors.Is(err, about) {
			return true
		}
	}
	return false
}

// artifactOf returns the artifact to which the tag of an entry points in a store.
func artifactOf(ctx context.Context, store PackageStore, tag string) (storedArtifact, error) {
	text, err := store.Manifest(ctx, tag)
	if err != nil {
		return storedArtifact{}, err
	}
	found, err := modpkg.ParseManifest(text)
	if err == nil && found.Statement.Tag() != tag {
		err = errOtherEntry
	}
	if err != nil {
		return storedArtifact{Artifact: found}, err
	}
	return storedArtifact{found, store.CheckTrust(text)}, nil
}

// fetchArtifact fetches the package of an artifact into the cache, and compares its
// hashes with the statement.
func (s *storedEntries) fetchArtifact(ctx context.Context, at storeID, a modpkg.Artifact) (*pkgtree.Tree, error) {
	tree, err := s.stored.trees.Do(ctx, storeKey{at, a.Layer}, func(ctx context.Context) (*pkgtree.Tree, error) {
		done, err := s.slot(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		s.events.emit(FetchStarted{Package: a.Statement.Package})
		tree, err := s.download(ctx, s.stored.store(at), a)
		if err == nil {
			s.events.emit(FetchDone{Package: a.Statement.Package, Bytes: a.Size, Store: s.stored.store(at).Name()})
		}
		return tree, err
	})
	if err != nil {
		return nil, err
	}
	return tree, compareStatement(a.Statement, tree)
}

// download writes the layer of an artifact to the stage, extracts it, hashes the files
// and publishes them in the cache under their hash, whichever that is.
func (s *storedEntries) download(ctx context.Context, store PackageStore, a modpkg.Artifact) (*pkgtree.Tree, error) {
	staged := s.cache.Stage()
	archive, err := os.Create(staged + ".archive")
	if err != nil {
		return nil, err
	}
	defer func() { // a later clean-up removes what is left
		_ = archive.Close()
		_ = os.Remove(archive.Name())
		_ = os.RemoveAll(staged)
	}()
	if err := store.Blob(ctx, a.Layer, a.Size, archive); err != nil {
		return nil, err
	}
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if _, err := s.fetcher.ExtractArchive(ctx, archive, "zip", staged); err != nil {
		return nil, err
	}
	tree, err := pkgtree.Read(staged)
	if err != nil {
		return nil, err
	}
	return tree, s.cache.Publish(staged, tree.T1())
}

// compareStatement compares a tree with the hashes of a statement.
func compareStatement(s modpkg.Statement, tree *pkgtree.Tree) error {
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

// hasFailed reports whether a store could not be used.
func (s *storedPackages) hasFailed(at storeID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed[at]
}

// fail notes that a store could not be used, and reports whether that is new.
func (s *storedPackages) fail(at storeID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed[at] {
		return false
	}
	if s.failed == nil {
		s.failed = make(map[storeID]bool)
	}
	s.failed[at] = true
	return true
}
