package cotter

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/pkgcache"
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
	// QuarantineBytes is the size of packages that were found damaged.
	QuarantineBytes int64
}

// Bytes is the size of everything.
func (u CacheUsage) Bytes() int64 { return u.PackageBytes + u.GitBytes + u.QuarantineBytes }

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
	var err error
	u.QuarantineBytes, err = pkgcache.Size(pkgcache.QuarantineDir(c.Dir))
	return u, errors.Join(treeErr, gitErr, err)
}

// Verify hashes every package in the cache and sets those aside that are not
// what their names say: it returns their names. Installations check what they
// take out of the cache in any case.
func (c Cache) Verify(ctx context.Context) (damaged []string, err error) {
	entries, err := pkgcache.Entries(c.Dir)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	trees, err := pkgcache.Open(c.Dir, userkey.Random())
	if err != nil {
		return nil, err
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

// Clean removes what was not used for so long; 0 removes everything. Packages
// that a process uses at the moment stay. Damaged packages always go.
func (c Cache) Clean(ctx context.Context, olderThan time.Duration) (freed CacheUsage, err error) {
	if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
		return freed, nil //nolint:nilerr // there is no cache
	}
	limit := time.Now().Add(-olderThan)
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
	quarantined, sizeErr := pkgcache.Size(pkgcache.QuarantineDir(c.Dir))
	freed.QuarantineBytes = quarantined
	return freed, errors.Join(err, gitErr, sizeErr, os.RemoveAll(pkgcache.QuarantineDir(c.Dir)))
}
