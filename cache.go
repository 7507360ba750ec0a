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
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/stores"
	"github.com/cotterpin/cotter/internal/userkey"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// Cache is a user's cache, in the directory that Installer.CacheDir names. Everything in it
// can be fetched again, so all of it may be removed at any time, even while other processes
// use it.
//
// Projects have links to provider packages in the cache. Installations record in the cache
// which projects these are, for the user whose key StateDir or StateKey names. Without that
// key no project is known.
type Cache struct {
	Dir string
	// StateDir and StateKey are as in Installer.
	StateDir, StateKey string
}

// key returns the user's key, or a random one if the user has no key yet. A key that cannot be used is an
// error, because the user's projects would not be recognized.
func (c Cache) key() (*userkey.Key, error) {
	switch {
	case c.StateKey != "":
		return userkey.FromSecret(c.StateKey)
	case c.StateDir == "":
		return userkey.Random(), nil
	}
	key, err := userkey.Read(c.StateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return userkey.Random(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("the user's key in %s cannot be used, so the projects with links to the cache are not known: %w", c.StateDir, err)
	}
	return key, nil
}

// CacheUsage counts the contents of a cache, or of the part of it that was removed.
type CacheUsage struct {
	// Packages is the number of module packages, and PackageBytes the size of their files.
	Packages     int
	PackageBytes int64
	// GitStores is the number of bare git repositories, and GitBytes their size.
	GitStores int
	GitBytes  int64
	// Providers is the number of provider packages, and ProviderBytes their size.
	Providers     int
	ProviderBytes int64
	// LinkedProviders is the number of provider packages that projects of this user link to,
	// and LinkedBytes their size. In the result of Clean, they are the packages that were kept
	// only for this reason.
	LinkedProviders int
	LinkedBytes     int64
	// QuarantineBytes is the size of the packages that were set aside as damaged.
	QuarantineBytes int64
}

// Bytes returns the total size.
func (u CacheUsage) Bytes() int64 {
	return u.PackageBytes + u.GitBytes + u.ProviderBytes + u.QuarantineBytes
}

// Size measures the cache. A directory that does not exist counts as an empty cache. If the
// user's key cannot be used, LinkedProviders is 0, and Projects returns the error.
func (c Cache) Size() (CacheUsage, error) {
	key, err := c.key()
	if err != nil {
		key = userkey.Random() // Projects returns the error
	}
	found, err := store.UsageOf(context.Background(), c.Dir, key)
	return CacheUsage(found), err
}

// Verify hashes every package in the cache, sets aside those that do not match their names,
// and returns the names of these. Installations check each package that they take out of
// the cache in any case.
func (c Cache) Verify(ctx context.Context) (damaged []string, err error) {
	return store.Verify(ctx, c.Dir)
}

// CacheProject is a project of this user that has links to provider packages in the cache.
type CacheProject struct {
	// Dir is the absolute path of the root module.
	Dir string
	// Providers is the number of packages that it links to, and Bytes their size.
	Providers int
	Bytes     int64
}

// Projects returns the projects of this user with links to provider packages that have not been
// used for olderThan, in the order of their directories. foreign is the number of recorded
// projects that other users of the cache have installed, or this user with another key. They are
// not looked at.
func (c Cache) Projects(ctx context.Context, olderThan time.Duration) (projects []CacheProject, foreign int, err error) {
	key, err := c.key()
	if err != nil {
		return nil, 0, err
	}
	found, foreign, err := store.Projects(ctx, c.Dir, key, olderThan)
	for _, project := range found {
		projects = append(projects, CacheProject(project))
	}
	return projects, foreign, err
}

// Clean removes everything that has not been used for olderThan; 0 removes everything. It
// keeps packages that a process is using, and provider packages that projects of this user
// link to. A project that no longer exists, or was moved or copied since its last installation,
// does not count. Damaged packages are always removed.
func (c Cache) Clean(ctx context.Context, olderThan time.Duration) (freed CacheUsage, err error) {
	return c.clean(ctx, store.Cleaning{OlderThan: olderThan})
}

// CleanAll is like Clean, but also removes provider packages that projects link to. Stock tools
// cannot use these projects until they are installed again; see Projects. It does not need the
// user's key.
func (c Cache) CleanAll(ctx context.Context, olderThan time.Duration) (freed CacheUsage, err error) {
	return c.clean(ctx, store.Cleaning{OlderThan: olderThan, All: true})
}

func (c Cache) clean(ctx context.Context, cleaning store.Cleaning) (freed CacheUsage, err error) {
	if cleaning.Key, err = c.key(); err != nil && !cleaning.All {
		return freed, err
	} else if err != nil {
		cleaning.Key = userkey.Random() // no project has to be known
	}
	removed, err := store.Clean(ctx, c.Dir, cleaning)
	return CacheUsage(removed), err
}

// CacheFormat is the version of the layout of a user's cache. A cache in another version of
// the layout cannot be used; CacheKey.Prefix contains the version.
const CacheFormat = 1

// CacheKey identifies the content of a cache that serves certain locks. It is for CI
// systems that keep caches between runs.
type CacheKey struct {
	// Key is Prefix followed by a hash of the locked packages. Locks with the same packages
	// have the same key, even if their calls, constraints or directories differ.
	Key string
	// Prefix is common to the keys of all caches that can be used on this platform. A run
	// that starts with the newest of these caches fetches only what has changed.
	Prefix string
	// Modules and Providers are the numbers of distinct packages and providers.
	Modules, Providers int
}

// CacheKey returns the key of the cache for the locks of several root modules. req applies
// to each of them, with its directory replaced. A root module that needs no modules or
// providers has no lock and is ignored. If none of them has a lock, the error wraps
// fs.ErrNotExist.
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

// lockPathOf returns the path of the lock of the first directory.
func lockPathOf(req Request, dirs []string) string {
	if len(dirs) > 0 {
		req.Dir = dirs[0]
	}
	return filepath.Join(req.dir(), req.lockFile())
}

// addPackages adds the packages in a project's lock to the sets modules and providers. It
// reports whether the project has a lock.
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

// ListedStore is a PackageStore that can list its contents.
type ListedStore interface {
	PackageStore
	// Tags returns the tags of all manifests, in any order.
	Tags(ctx context.Context) ([]string, error)
}

// StoreEntry describes the artifact that a store has for one entry of a lock.
type StoreEntry struct {
	// Source, Version, Package and Hashes are copied from the entry. For a provider, Source
	// is its address, Package is empty, and Hashes are those of the package for Platform.
	Source, Version, Package string
	Hashes                   []hashing.Hash
	// Platform is zero for modules.
	Platform addrs.Platform
	// Tag is the tag of the artifact.
	Tag string
	// Err says why the artifact does not match its entry; nil if it does.
	Err error
}

// StoreHas reports whether a store has the artifact of an entry. distrust says why the
// artifact does not confirm the entry; it is nil if it does. Only the manifest is
// requested. If the store has something else under the artifact's tag, has is false. err
// reports failures of the store itself.
func StoreHas(ctx context.Context, store PackageStore, entry lockfile.Module) (has bool, distrust, err error) {
	return stores.Has(ctx, store, modpkg.StatementOf(entry))
}

// StoredProvider says what a store has for a locked provider and a platform.
type StoredProvider int

const (
	// StoredNot means that the store has nothing for the platform.
	StoredNot = StoredProvider(stores.ProviderMissing)
	// StoredOther means that the store has a package that matches no hash in the lock.
	StoredOther = StoredProvider(stores.ProviderOther)
	// StoredLocked means that the store has a package that matches a hash in the lock.
	StoredLocked = StoredProvider(stores.ProviderLocked)
)

// StoreHasProvider returns what a store has for a locked provider and a platform. Only the
// index and the manifest are requested. distrust says why the artifact does not confirm the
// entry; it is nil if it does. err reports failures of the store itself.
func StoreHasProvider(ctx context.Context, store PackageStore, entry lockfile.Provider, platform addrs.Platform) (has StoredProvider, distrust, err error) {
	state, distrust, err := stores.HasProvider(ctx, store, entry, platform)
	return StoredProvider(state), distrust, err
}

// MissingPlatformError says that a store has the requested version of a provider, but not
// for the requested platform.
type MissingPlatformError = getproviders.MissingPlatformError

// VerifyStore fetches, extracts and hashes all packages of a store, compares them with
// their entries, and checks that the artifacts confirm the entries. It contacts only the
// store and keeps nothing. The entries are sorted by source and version, with providers
// last. The error reports problems that concern the whole store.
func (in *Installer) VerifyStore(ctx context.Context, store ListedStore) ([]StoreEntry, error) {
	alone := *in
	alone.CacheDir = ""
	return alone.readStore(ctx, store, false, func(*session, modpkg.Statement) error { return nil })
}

// ImportStore puts all packages of a store into the cache. It also records their entries as
// confirmed for this user, so that later runs need no origin for them: importing a store
// means trusting it. Of provider packages for other platforms only the hashes are kept.
// Damaged packages are not imported, and Err of their entries is set. The returned entries
// and the error are as for VerifyStore.
func (in *Installer) ImportStore(ctx context.Context, store ListedStore) ([]StoreEntry, error) {
	if in.CacheDir == "" {
		return nil, errors.New("there is no cache to import into")
	}
	return in.readStore(ctx, store, true, func(s *session, statement modpkg.Statement) error {
		if s.CacheErr != nil {
			return s.CacheErr
		}
		return confirmImported(s.Cache, statement)
	})
}

// confirmImported records that the user has imported the package of a statement.
func confirmImported(cache *store.Modules, statement modpkg.Statement) error {
	var records []string
	for _, text := range lockentry.AllStatements(statement) {
		records = append(records, evidence.Evidence{Kind: evidence.Imported}.Record(text))
	}
	return cache.Confirm(records...)
}

// readStore fetches all packages of a store into the cache, and calls use for each module
// package that matches its entry. keep says whether provider packages are kept.
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
				return nil // the other packages are still read
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

// readProviders reads all provider packages of a store, which are listed by its tags. If
// keep is set, packages for this platform are kept, and of the others the hashes. Otherwise
// every package is only hashed.
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
func checkStatement(s modpkg.Statement, tree *store.Tree) error {
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

// PackageStore has packages of locks, in addition to their origins. They are OCI artifacts
// in the form that OpenTofu installs. *bundle.Bundle and *mirror.Mirror are stores.
// Implementations must be safe for concurrent use.
//
// Every package from a store is compared with the hashes of the lock, like all other
// packages. A store can also confirm entries, as an origin does. It confirms an entry if it
// has an artifact with exactly the data of the entry (source, version, package and hashes);
// then no origin is asked. CheckTrust decides whether it may. CheckTrust must refuse if the
// store was named by a repository rather than by the user: on the command line, in the
// environment or in the user's own settings. Otherwise the repository's author could make
// the store confirm any lock. A store that is refused only delivers packages, for entries
// that are confirmed in another way.
type PackageStore interface {
	// Name is the store's name in messages.
	Name() string
	// IsLocal reports whether the store can be read in offline mode.
	IsLocal() bool
	// Manifest returns the manifest that a tag points to. The error wraps fs.ErrNotExist if
	// the tag does not exist.
	Manifest(ctx context.Context, tag string) ([]byte, error)
	// CheckTrust returns nil if the artifact with this manifest, as returned by Manifest,
	// confirms the lock entry that it contains. Otherwise the error says why not, in the
	// same words for all artifacts with the same defect. It is ErrDeliversOnly if the store
	// confirms no entries.
	CheckTrust(manifest []byte) error
	// Evidence returns the evidence that an artifact is which CheckTrust accepts: that of a
	// mirror, with a signature or without. It is zero for a store that only delivers. It
	// does not depend on the artifact, and names the store, or the keys that decide.
	Evidence() evidence.Evidence
	// Blob writes a blob to the start of a file, and checks its digest and size.
	Blob(ctx context.Context, digest string, size int64, file *os.File) error
	// ProviderIndex returns the index of the packages that the store has for a version of a
	// provider. The error wraps fs.ErrNotExist if it has none.
	ProviderIndex(ctx context.Context, provider addrs.Provider, version versions.Version) ([]byte, error)
	// ProviderManifest returns a manifest listed in such an index, by its digest and size.
	// CheckTrust accepts it too.
	ProviderManifest(ctx context.Context, provider addrs.Provider, digest string, size int64) ([]byte, error)
	// ProviderBlob is like Blob, for the archive of a provider. progress, which may be nil,
	// is called with the number of bytes that have arrived and the total.
	ProviderBlob(ctx context.Context, provider addrs.Provider, digest string, size int64, file *os.File, progress func(done, total int64)) error
}

// ErrDeliversOnly means that a [PackageStore] does not confirm entries. It is not a
// failure: the origins are asked instead.
var ErrDeliversOnly = stores.ErrDeliversOnly
