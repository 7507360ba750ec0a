package main

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
	"slices"

	"github.com/spf13/cobra"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
)

func cacheKeyCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:   "key [DIR...]",
		Short: "print the key under which CI should store the cache directory",
		Long: "The key consists of the version of the cache format, the platform, and a hash of the\n" +
			"modules and providers in the lock, or in the locks of several projects. With --prefix\n" +
			"the hash is left out. A stored cache whose key has the same prefix is still useful: a\n" +
			"run fetches only the packages that it lacks.",
	}, runCacheKey, projectFlags(severalFlags(
		toggle("prefix", "print only the prefix that all keys on this platform share"),
	)...))
}

func runCacheKey(ctx context.Context, cmd *invocation, out *output) error {
	req, err := newRequest(cmd, out.env)
	if err != nil {
		return err
	}
	dirs, err := projectDirs(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	projects, failures := projectsIn(cmd, out.env, req, dirs, nil)
	if err := errors.Join(failures...); err != nil {
		return err
	}
	key, err := cacheKeyOf(ctx, projects)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", errNoLock, err)
	}
	if err != nil {
		return err
	}
	if out.json {
		out.result(key)
		return nil
	}
	shown := key.Key
	if cmd.Bool("prefix") {
		shown = key.Prefix
	}
	out.printf("%s\n", shown)
	return nil
}

// cacheFormat is the version of the layout of a user's cache. A cache in another version of the
// layout cannot be used.
const cacheFormat = 1

// cacheKeyOf returns the key for the locks of several projects. A project that needs no modules or providers
// has no lock and is ignored. If none has a lock, the error wraps fs.ErrNotExist.
func cacheKeyOf(ctx context.Context, projects []installer.Project) (cacheKeyRecord, error) {
	modules, providers := make(map[string]bool), make(map[string]bool)
	hasLock, missing := false, ""
	for _, p := range projects {
		if _, err := os.Stat(cmp.Or(p.Dir, ".")); err != nil {
			return cacheKeyRecord{}, err
		}
		lock, err := installer.ReadLock(ctx, p)
		if err != nil {
			return cacheKeyRecord{}, err
		}
		locked, err := installer.ReadLockedProviders(ctx, p)
		if err != nil {
			return cacheKeyRecord{}, err
		}
		for _, m := range lock.Modules() {
			modules[fmt.Sprint(m.Hashes)] = true
		}
		for _, entry := range locked {
			providers[fmt.Sprintf("%s %s %s", entry.Address, entry.Version, entry.Hashes)] = true
		}
		own := below(p.Dir, cmp.Or(p.LockFile, stockLockName))
		missing = cmp.Or(missing, own)
		hasLock = hasLock || !absent(own) || !absent(below(p.Dir, stockLockName))
	}
	if !hasLock {
		return cacheKeyRecord{}, &fs.PathError{Op: "open", Path: cmp.Or(missing, stockLockName), Err: fs.ErrNotExist}
	}
	sum := sha256.New()
	for _, set := range []map[string]bool{modules, providers} {
		for _, line := range slices.Sorted(maps.Keys(set)) {
			fmt.Fprintln(sum, line)
		}
		fmt.Fprintln(sum)
	}
	platform := addrs.CurrentPlatform().String()
	prefix := fmt.Sprintf("cotter-v%d-%s-", cacheFormat, platform)
	return cacheKeyRecord{prefix + hex.EncodeToString(sum.Sum(nil)), prefix, platform, len(modules), len(providers)}, nil
}
