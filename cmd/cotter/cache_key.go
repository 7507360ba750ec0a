package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/spf13/cobra"
)

func cacheKeyCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:    "key [DIR...]",
		Short:  "print the key under which CI should store the cache directory",
		Hidden: true, // it is for CI jobs
		Long: "The key consists of the version of the cache format, the platform, and a hash of the\n" +
			"modules and providers in the lock, or in the locks of several projects. With --prefix\n" +
			"the hash is left out. A stored cache whose key has the same prefix is still useful: a\n" +
			"run fetches only the packages that it lacks.",
	}, runCacheKey, projectFlags(severalFlags(
		toggle("prefix", "print only the prefix that all keys on this platform share"),
	)...))
}

func runCacheKey(ctx context.Context, cmd *invocation, out *output) error {
	req, err := newRequest(cmd, out.Env)
	if err != nil {
		return err
	}
	dirs, err := projectDirs(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	projects, failures := projectsIn(cmd, out.Env, req, dirs, nil)
	if err := errors.Join(failures...); err != nil {
		return err
	}
	key, err := cacheKeyOf(ctx, localInstaller(out), projects, severalProjects(cmd))
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

// cacheKeyOf returns the key for the locks of several projects. A project may lack a lock only if it needs none.
func cacheKeyOf(ctx context.Context, in *installer.Installer, projects []installer.Project, several bool) (records.CacheKey, error) {
	modules, providers := make(map[string]bool), make(map[string]bool)
	var failures []error
	for _, p := range projects {
		lock, locked, err := readLocks(ctx, in, p)
		if err != nil && several {
			err = &installer.ProjectError{Dir: p.Dir, Err: err}
		}
		failures = append(failures, err)
		for _, m := range lock.Modules() {
			modules[fmt.Sprint(m.Hashes)] = true
		}
		for _, entry := range locked {
			providers[fmt.Sprintf("%s %s %s", entry.Address, entry.Version, entry.Hashes)] = true
		}
	}
	if err := errors.Join(failures...); err != nil {
		return records.CacheKey{}, err
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
	return records.CacheKey{Key: prefix + hex.EncodeToString(sum.Sum(nil)), Prefix: prefix, Platform: platform, Modules: len(modules), Providers: len(providers)}, nil
}

// readLocks returns the lock of a project, and the providers, which another file may have.
func readLocks(ctx context.Context, in *installer.Installer, p installer.Project) (*lockfile.File, []lockfile.Provider, error) {
	if err := requireLock(ctx, in, p); err != nil {
		return nil, nil, err
	}
	lock, err := installer.ReadLock(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	providers, err := installerinternal.ReadLockedProviders(ctx, p)
	return lock, providers, err
}

// requireLock returns an error if a project has no lock but needs one.
func requireLock(ctx context.Context, in *installer.Installer, p installer.Project) error {
	err := installerinternal.RequireLock(ctx, in, p)
	if !advice.Is[*installer.MissingLockError](err) {
		return err
	}
	if dir, empty := withoutConfiguration(ctx, request{Project: p}); empty {
		return advice.NoConfigurationError{Dir: dir}
	}
	return err
}
