package cotter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/stores"
	"github.com/cotterpin/cotter/internal/usercache"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// Cache is a user's cache, as Installer.CacheDir names it. Everything in it can
// be fetched again, so all of it may be removed at any time, also while others
// use it.
type Cache struct{ Dir string }

// CacheUsage is how much of something is in a cache.
type CacheUsage struct {
	// Packages is the number of packages and PackageBytes the size of their
	// files.
	Packages     int
	PackageBytes int64
	// GitStores is the number of bare repositories and GitBytes their size.
	GitStores int
	GitBytes  int64
	// Providers is the number of packages of providers, and ProviderBytes their size.
	Providers     int
	ProviderBytes int64
	// QuarantineBytes is the size of packages that were found damaged.
	QuarantineBytes int64
}

// Bytes is the size of everything.
func (u CacheUsage) Bytes() int64 {
	return u.PackageBytes + u.GitBytes + u.ProviderBytes + u.QuarantineBytes
}

// Size tells what is in the cache. A directory that is not there is an empty
// cache.
func (c Cache) Size() (CacheUsage, error) {
	found, err := usercache.Size(c.Dir)
	return CacheUsage(found), err
}

// Verify hashes every package in the cache and sets those aside that are not
// what their names say: it returns their names. Installations check what they
// take out of the cache in any case.
func (c Cache) Verify(ctx context.Context) (damaged []string, err error) {
	return usercache.Verify(ctx, c.Dir)
}

// Clean removes what was not used for so long; 0 removes everything. Packages
// that a process uses at the moment stay. Damaged packages always go. Projects have
// links to the packages of providers, which the next installation makes anew.
func (c Cache) Clean(ctx context.Context, olderThan time.Duration) (freed CacheUsage, err error) {
	removed, err := usercache.Clean(ctx, c.Dir, olderThan)
	return CacheUsage(removed), err
}

// CacheFormat is the version of what a user's cache looks like. A cache of another
// version is of no use: see CacheKey.
const CacheFormat = 1

// CacheKey names the content of a cache that serves certain locks, for CI systems that
// keep caches between runs.
type CacheKey struct {
	// Key is Prefix and a hash of the locked packages. It is the same for locks with the
	// same packages, whichever calls, constraints and directories they have.
	Key string
	// Prefix is common to the keys of all caches that are of use on this platform: with
	// the newest of these, a run fetches only what has changed.
	Prefix string
	// Modules and Providers are the numbers of different packages and providers.
	Modules, Providers int
}

// CacheKey returns the key of the cache for the locks of several root modules, each as
// req says but for its directory. One that needs nothing has no lock, and does not count;
// if none has a lock, the error wraps fs.ErrNotExist.
func (in *Installer) CacheKey(ctx context.Context, dirs []string, req Request) (CacheKey, error) {
	modules, providers := make(map[string]bool), make(map[string]bool)
	locks := 0
	for _, dir := range dirs {
		hasLock, err := in.addPackages(ctx, req, dir, modules, providers)
		if err != nil {
			return CacheKey{}, err
		}
		if hasLock {
			locks++
		}
	}
	if locks == 0 {
		return CacheKey{}, &fs.PathError{Op: "open", Path: lockPathOf(req, dirs), Err: fs.ErrNotExist}
	}
	sum := sha256.New()
	for _, set := range []map[string]bool{modules, providers} {
		for _, line := range slices.Sorted(maps.Keys(set)) {
			fmt.Fprintln(sum, line)
		}
		fmt.Fprintln(sum)
	}
	prefix := fmt.Sprintf("cotter-v%d-%s-", CacheFormat, addrs.CurrentPlatform())
	return CacheKey{
		Key: prefix + hex.EncodeToString(sum.Sum(nil)), Prefix: prefix,
		Modules: len(modules), Providers: len(providers),
	}, nil
}

// lockPathOf names the first lock that was looked for.
func lockPathOf(req Request, dirs []string) string {
	if len(dirs) > 0 {
		req.Dir = dirs[0]
	}
	return filepath.Join(req.dir(), req.lockFile())
}

// addPackages adds what the lock of a project has to sets of packages. It reports whether
// there is a lock.
func (in *Installer) addPackages(ctx context.Context, req Request, dir string, modules, providers map[string]bool) (hasLock bool, err error) {
	if req, err = req.inDir(dir); err != nil {
		return false, err
	}
	if _, err := os.Stat(req.dir()); err != nil {
		return false, err
	}
	p, err := in.view(ctx, req)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	lock, err := p.providerLock()
	if err != nil {
		return false, err
	}
	for _, m := range p.lock.Modules() {
		modules[joinHashes(m.Hashes)] = true
	}
	for _, provider := range lock.Providers() {
		providers[fmt.Sprintf("%s %s %s", provider.Address, provider.Version, joinHashes(provider.Hashes))] = true
	}
	return p.lockSrc != nil || lock.src != nil, nil
}

func joinHashes(hashes []hashing.Hash) string { return fmt.Sprint(hashes) }

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
// their entries, and checks that the artifacts confirm them. It asks only the store, and
// keeps nothing. The entries are in the order of their sources and versions, those of
// providers last. The error is about what concerns all of them.
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
	// provider. The error wraps fs.ErrNotExist if it has none.
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
var ErrDeliversOnly = stores.ErrDeliversOnly
