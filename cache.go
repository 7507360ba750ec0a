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
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/userkey"
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
func (c Cache) Size(ctx context.Context) (CacheUsage, error) {
	key, err := c.key()
	if err != nil {
		key = userkey.Random() // Projects returns the error
	}
	found, err := store.UsageOf(ctx, c.Dir, key)
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
		hasLock, err := addPackages(ctx, in, req, dir, modules, providers)
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
func addPackages(ctx context.Context, in *Installer, req Request, dir string, modules, providers map[string]bool) (hasLock bool, err error) {
	if req, err = req.inDir(dir); err != nil {
		return false, err
	}
	if _, err := os.Stat(req.dir()); err != nil {
		return false, err
	}
	p, err := openToRead(ctx, in, req)
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
