package cache

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
)

// Format is the version of the layout of a user's cache. A cache in another version of the
// layout cannot be used; Key.Prefix contains the version.
const Format = 1

const stockLock = ".terraform.lock.hcl"

// Key identifies the content of a cache that serves certain locks. It is for CI systems that
// keep caches between runs.
type Key struct {
	// Key is Prefix followed by a hash of the locked packages. Locks with the same packages
	// have the same key, even if their calls, constraints or directories differ.
	Key string
	// Prefix is common to the keys of all caches that can be used on this platform. A run
	// that starts with the newest of these caches fetches only what has changed.
	Prefix string
	// Modules and Providers are the numbers of distinct packages and providers.
	Modules, Providers int
}

// KeyOf returns the key of the cache for the locks of several projects. A project that needs no modules or providers has no
// lock and is ignored. If none of them has a lock, the error wraps fs.ErrNotExist. Other errors
// are as for [installer.ReadLock].
func KeyOf(ctx context.Context, projects []installer.Project) (Key, error) {
	modules, providers := make(map[string]bool), make(map[string]bool)
	locks := 0
	for _, p := range projects {
		hasLock, err := addPackages(ctx, p, modules, providers)
		if err != nil {
			return Key{}, err
		}
		if hasLock {
			locks++
		}
	}
	if locks == 0 {
		none := &fs.PathError{Op: "open", Path: stockLock, Err: fs.ErrNotExist}
		if len(projects) > 0 {
			none.Path = inDir(projects[0].Dir, projects[0].LockFile)
		}
		return Key{}, none
	}
	sum := sha256.New()
	for _, set := range []map[string]bool{modules, providers} {
		for _, line := range slices.Sorted(maps.Keys(set)) {
			fmt.Fprintln(sum, line)
		}
		fmt.Fprintln(sum)
	}
	prefix := fmt.Sprintf("cotter-v%d-%s-", Format, addrs.CurrentPlatform())
	return Key{
		Key: prefix + hex.EncodeToString(sum.Sum(nil)), Prefix: prefix,
		Modules: len(modules), Providers: len(providers),
	}, nil
}

func inDir(dir, lock string) string {
	if lock == "" {
		lock = stockLock
	}
	if filepath.IsAbs(lock) {
		return lock
	}
	return filepath.Join(dir, lock)
}

func addPackages(ctx context.Context, p installer.Project, modules, providers map[string]bool) (hasLock bool, err error) {
	if _, err := os.Stat(cmp.Or(p.Dir, ".")); err != nil {
		return false, err
	}
	lock, err := installer.ReadLock(ctx, p)
	if err != nil {
		return false, err
	}
	locked, err := installer.ReadLockedProviders(ctx, p)
	if err != nil {
		return false, err
	}
	for _, m := range lock.Modules() {
		modules[joinHashes(m.Hashes)] = true
	}
	for _, entry := range locked {
		providers[fmt.Sprintf("%s %s %s", entry.Address, entry.Version, joinHashes(entry.Hashes))] = true
	}
	return exists(inDir(p.Dir, p.LockFile)) || exists(inDir(p.Dir, stockLock)), nil
}

func joinHashes(hashes []hashing.Hash) string { return fmt.Sprint(hashes) }

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
