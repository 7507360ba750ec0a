package cotter

import (
	"cmp"
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
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/internal/userkey"
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
	var u CacheUsage
	entries, treeErr := pkgcache.Entries(c.Dir)
	for _, entry := range entries {
		u.Packages++
		u.PackageBytes += entry.Bytes
	}
	stores, gitErr := getmodules.GitStores(c.Dir)
	for _, s := range stores {
		bytes, err := pkgcache.Size(s.Dir)
		u.GitStores++
		u.GitBytes += bytes
		gitErr = cmp.Or(gitErr, err)
	}
	providers, providerErr := providerstore.Entries(c.Dir)
	for _, entry := range providers {
		u.Providers++
		u.ProviderBytes += entry.Bytes
	}
	var err error
	u.QuarantineBytes, err = c.quarantined()
	return u, errors.Join(treeErr, gitErr, providerErr, err)
}

// quarantined is the size of the damaged packages of both kinds.
func (c Cache) quarantined() (int64, error) {
	modules, err := pkgcache.Size(pkgcache.QuarantineDir(c.Dir))
	providers, providerErr := pkgcache.Size(providerstore.QuarantineDir(c.Dir))
	return modules + providers, errors.Join(err, providerErr)
}

// Verify hashes every package in the cache and sets those aside that are not
// what their names say: it returns their names. Installations check what they
// take out of the cache in any case.
func (c Cache) Verify(ctx context.Context) (damaged []string, err error) {
	damaged, err = c.verifyProviders(ctx)
	if err != nil {
		return damaged, err
	}
	entries, err := pkgcache.Entries(c.Dir)
	if err != nil || len(entries) == 0 {
		return damaged, err
	}
	trees, err := pkgcache.Open(c.Dir, userkey.Random())
	if err != nil {
		return damaged, err
	}
	defer func() { err = errors.Join(err, trees.Close()) }()
	for _, entry := range entries {
		switch err := trees.Check(ctx, entry.Name); {
		case errors.Is(err, pkgcache.ErrDamaged):
			damaged = append(damaged, entry.Name)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return damaged, err
		}
	}
	return damaged, nil
}

// verifyProviders is Verify for the packages of providers.
func (c Cache) verifyProviders(ctx context.Context) (damaged []string, err error) {
	entries, err := providerstore.Entries(c.Dir)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	store := providerstore.Open(c.Dir, "", userkey.Random())
	defer func() { err = errors.Join(err, store.Close()) }()
	for _, entry := range entries {
		switch err := store.Check(ctx, entry.Name); {
		case errors.Is(err, providerstore.ErrDamaged):
			damaged = append(damaged, entry.Name)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return damaged, err
		}
	}
	return damaged, nil
}

// Clean removes what was not used for so long; 0 removes everything. Packages
// that a process uses at the moment stay. Damaged packages always go. Projects have
// links to the packages of providers, which the next installation makes anew.
func (c Cache) Clean(ctx context.Context, olderThan time.Duration) (freed CacheUsage, err error) {
	if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
		return freed, nil //nolint:nilerr // there is no cache
	}
	limit := time.Now().Add(-olderThan)
	if freed.QuarantineBytes, err = c.quarantined(); err != nil {
		return freed, err
	}
	if err := c.cleanProviders(ctx, limit, &freed); err != nil {
		return freed, err
	}
	trees, err := pkgcache.Open(c.Dir, userkey.Random())
	if err != nil {
		return freed, err
	}
	defer func() { err = errors.Join(err, trees.Close()) }()
	entries, err := pkgcache.Entries(c.Dir)
	for _, entry := range entries {
		if entry.Used.After(limit) {
			continue
		}
		removed, err := trees.Remove(entry.Name)
		if err := errors.Join(ctx.Err(), err); err != nil {
			return freed, err
		}
		if removed {
			freed.Packages++
			freed.PackageBytes += entry.Bytes
		}
	}
	stores, gitErr := getmodules.GitStores(c.Dir)
	for _, s := range stores {
		if s.Used.After(limit) {
			continue
		}
		bytes, _ := pkgcache.Size(s.Dir) // what cannot be counted can often be removed
		if err := s.Remove(ctx); err != nil {
			return freed, err
		}
		freed.GitStores++
		freed.GitBytes += bytes
	}
	if err := trees.Forget(limit); err != nil {
		return freed, err
	}
	return freed, errors.Join(err, gitErr, os.RemoveAll(pkgcache.QuarantineDir(c.Dir)))
}

// cleanProviders is Clean for the packages of providers.
func (c Cache) cleanProviders(ctx context.Context, limit time.Time, freed *CacheUsage) (err error) {
	entries, err := providerstore.Entries(c.Dir)
	if err != nil || len(entries) == 0 {
		return err
	}
	store := providerstore.Open(c.Dir, "", userkey.Random())
	defer func() { err = errors.Join(err, store.Close()) }()
	for _, entry := range entries {
		if entry.Used.After(limit) {
			continue
		}
		removed, err := store.Remove(entry.Name)
		if err := errors.Join(ctx.Err(), err); err != nil {
			return err
		}
		if removed {
			freed.Providers++
			freed.ProviderBytes += entry.Bytes
		}
	}
	return errors.Join(store.Forget(limit), store.RemoveQuarantine())
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
