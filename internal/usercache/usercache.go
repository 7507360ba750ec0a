// Package usercache looks after all of a user's cache: the packages of modules (package
// pkgcache), the bare git repositories from which they come, and the packages of providers
// (package providerstore). Others may use the cache at the same time.
package usercache

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/dirstore"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/internal/userkey"
)

// Usage is how much of something is in a cache.
type Usage struct {
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

// Size tells what is in the cache. A directory that is not there is an empty
// cache.
func Size(dir string) (Usage, error) {
	var u Usage
	entries, treeErr := pkgcache.Entries(dir)
	for _, entry := range entries {
		u.Packages++
		u.PackageBytes += entry.Bytes
	}
	stores, gitErr := getmodules.GitStores(dir)
	for _, s := range stores {
		bytes, err := dirstore.Size(s.Dir)
		u.GitStores++
		u.GitBytes += bytes
		gitErr = cmp.Or(gitErr, err)
	}
	providers, providerErr := providerstore.Entries(dir)
	for _, entry := range providers {
		u.Providers++
		u.ProviderBytes += entry.Bytes
	}
	var err error
	u.QuarantineBytes, err = quarantined(dir)
	return u, errors.Join(treeErr, gitErr, providerErr, err)
}

// quarantined is the size of the damaged packages of both kinds.
func quarantined(dir string) (int64, error) {
	modules, err := dirstore.Size(pkgcache.QuarantineDir(dir))
	providers, providerErr := dirstore.Size(providerstore.QuarantineDir(dir))
	return modules + providers, errors.Join(err, providerErr)
}

// Verify hashes every package in the cache and sets those aside that are not
// what their names say: it returns their names. Installations check what they
// take out of the cache in any case.
func Verify(ctx context.Context, dir string) (damaged []string, err error) {
	damaged, err = verifyProviders(ctx, dir)
	if err != nil {
		return damaged, err
	}
	entries, err := pkgcache.Entries(dir)
	if err != nil || len(entries) == 0 {
		return damaged, err
	}
	trees, err := pkgcache.Open(dir, userkey.Random())
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
func verifyProviders(ctx context.Context, dir string) (damaged []string, err error) {
	entries, err := providerstore.Entries(dir)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	store := providerstore.Open(dir, "", userkey.Random())
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
func Clean(ctx context.Context, dir string, olderThan time.Duration) (freed Usage, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return freed, nil //nolint:nilerr // there is no cache
	}
	limit := time.Now().Add(-olderThan)
	if freed.QuarantineBytes, err = quarantined(dir); err != nil {
		return freed, err
	}
	if err := cleanProviders(ctx, dir, limit, &freed); err != nil {
		return freed, err
	}
	trees, err := pkgcache.Open(dir, userkey.Random())
	if err != nil {
		return freed, err
	}
	defer func() { err = errors.Join(err, trees.Close()) }()
	entries, err := pkgcache.Entries(dir)
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
	stores, gitErr := getmodules.GitStores(dir)
	for _, s := range stores {
		if s.Used.After(limit) {
			continue
		}
		bytes, _ := dirstore.Size(s.Dir) // what cannot be counted can often be removed
		if err := s.Remove(ctx); err != nil {
			return freed, err
		}
		freed.GitStores++
		freed.GitBytes += bytes
	}
	if err := trees.Forget(limit); err != nil {
		return freed, err
	}
	return freed, errors.Join(err, gitErr, os.RemoveAll(pkgcache.QuarantineDir(dir)))
}

// cleanProviders is Clean for the packages of providers.
func cleanProviders(ctx context.Context, dir string, limit time.Time, freed *Usage) (err error) {
	entries, err := providerstore.Entries(dir)
	if err != nil || len(entries) == 0 {
		return err
	}
	store := providerstore.Open(dir, "", userkey.Random())
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
