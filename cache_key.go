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

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
)

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
