// Package usercache manages a user's whole cache: the packages of modules (package pkgcache), the
// bare git repositories that they come from, and the packages of providers (package
// providerstore). Other processes may use the cache at the same time.
package usercache

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/dirstore"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/internal/userkey"
)

// Usage is the number and size of the entries in a cache, or of those that were removed. Sizes
// are in bytes.
type Usage struct {
	// Packages is the number of module packages, and PackageBytes is the size of their files.
	Packages     int
	PackageBytes int64
	// GitStores is the number of bare git repositories, and GitBytes is their size.
	GitStores int
	GitBytes  int64
	// Providers is the number of provider packages, and ProviderBytes is their size.
	Providers     int
	ProviderBytes int64
	// LinkedProviders is the number of provider packages that projects of the user link to, and
	// LinkedBytes is their size. In the result of Clean, they are those that were kept only for
	// this reason.
	LinkedProviders int
	LinkedBytes     int64
	// QuarantineBytes is the size of damaged packages.
	QuarantineBytes int64
}

// Size returns the usage of a cache by the projects of the user with a key. If the directory does
// not exist, the cache is empty.
func Size(ctx context.Context, dir string, key *userkey.Key) (Usage, error) {
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
	links, linksErr := providerstore.View(dir, key).Links(ctx)
	for _, entry := range providers {
		u.Providers++
		u.ProviderBytes += entry.Bytes
		if links.Has(entry.Name) {
			u.LinkedProviders++
			u.LinkedBytes += entry.Bytes
		}
	}
	var err error
	u.QuarantineBytes, err = quarantined(dir)
	return u, errors.Join(treeErr, gitErr, providerErr, linksErr, err)
}

// quarantined returns the size of the damaged packages of modules and providers.
func quarantined(dir string) (int64, error) {
	modules, err := dirstore.Size(pkgcache.QuarantineDir(dir))
	providers, providerErr := dirstore.Size(providerstore.QuarantineDir(dir))
	return modules + providers, errors.Join(err, providerErr)
}

// Verify hashes every package in the cache. It moves packages whose hash differs from their name
// to quarantine and returns their names. Installations verify the packages that they use in any
// case.
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

// Project is a project of the user that has links to provider packages in the cache.
type Project struct {
	// Dir is the directory of its root module.
	Dir string
	// Providers is the number of packages that it links to, and Bytes is their size.
	Providers int
	Bytes     int64
}

// Projects returns the projects of the user with a key that link to provider packages that were not
// used for the given time, sorted by directory. foreign is the number of recorded projects that this
// user has not installed. They are not looked at.
func Projects(ctx context.Context, dir string, key *userkey.Key, olderThan time.Duration) (projects []Project, foreign int, err error) {
	links, err := providerstore.View(dir, key).Links(ctx)
	if err != nil {
		return nil, 0, err
	}
	entries, err := providerstore.Entries(dir)
	if err != nil {
		return nil, 0, err
	}
	limit := time.Now().Add(-olderThan)
	for _, linking := range links.Projects() {
		project := Project{Dir: linking.Root}
		for _, entry := range entries {
			if slices.Contains(linking.Packages, entry.Name) && !entry.Used.After(limit) {
				project.Providers++
				project.Bytes += entry.Bytes
			}
		}
		if project.Providers > 0 {
			projects = append(projects, project)
		}
	}
	return projects, links.Foreign(), nil
}

// Cleaning says what Clean removes.
type Cleaning struct {
	// OlderThan keeps everything that was used within this time.
	OlderThan time.Duration
	// All removes provider packages even if projects link to them.
	All bool
	// Key is the key of the user whose projects are looked at.
	Key *userkey.Key
}

// Clean removes everything that was not used for a time, except for provider packages that
// projects link to. Packages that a process is using are kept. Damaged packages are always removed.
// If All is set, projects that have links to removed providers must be installed again.
func Clean(ctx context.Context, dir string, c Cleaning) (freed Usage, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return freed, nil //nolint:nilerr // there is no cache
	}
	limit := time.Now().Add(-c.OlderThan)
	if freed.QuarantineBytes, err = quarantined(dir); err != nil {
		return freed, err
	}
	if err := cleanProviders(ctx, dir, c, limit, &freed); err != nil {
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
		bytes, _ := dirstore.Size(s.Dir) // even if it cannot be measured, it can often be removed
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
func cleanProviders(ctx context.Context, dir string, c Cleaning, limit time.Time, freed *Usage) (err error) {
	entries, err := providerstore.Entries(dir)
	if err != nil || len(entries) == 0 {
		return err
	}
	store := providerstore.Open(dir, "", c.Key)
	defer func() { err = errors.Join(err, store.Close()) }()
	links, err := store.Links(ctx)
	if err != nil {
		return err
	}
	kept := make(map[string]bool)
	for _, entry := range entries {
		if entry.Used.After(limit) {
			continue
		}
		linked := !c.All && links.Has(entry.Name)
		removed := false
		switch {
		case linked:
		case c.All:
			removed, err = store.Remove(entry.Name)
		default:
			removed, err = store.RemoveUnlinked(ctx, entry.Name, links)
			linked = !removed && links.Has(entry.Name)
		}
		if err := errors.Join(ctx.Err(), err); err != nil {
			return err
		}
		switch {
		case removed:
			freed.Providers++
			freed.ProviderBytes += entry.Bytes
		case linked:
			freed.LinkedProviders++
			freed.LinkedBytes += entry.Bytes
			kept[entry.Name] = true
		}
	}
	return errors.Join(store.Forget(limit, kept), store.ForgetProjects(links), store.RemoveQuarantine())
}
