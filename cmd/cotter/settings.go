package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

// applySettings returns a request with the settings of its project. Flags override the
// settings. It may be called again after req.Dir has changed.
func applySettings(cmd *cli.Invocation, req cotter.Request) (cotter.Request, error) {
	found, err := cotter.ReadSettings(req.Dir)
	if err != nil {
		return req, err
	}
	given := func(flag, setting string) string {
		if cmd.IsSet(flag) || setting == "" {
			return cmd.String(flag)
		}
		return setting
	}
	req.LockFile = given("lock-file", found.LockFile)
	req.Vendor = given("vendor", found.Vendor)
	if req.Dialect, err = cotter.ParseDialect(given("for", found.For)); err != nil {
		return req, usageError{err}
	}
	if name := given("layout", found.Layout); name != "" {
		if req.Layout, err = layout(name); err != nil {
			return req, err
		}
	}
	req.Submodules = cmd.Bool("submodules")
	if found.Submodules != nil && !cmd.IsSet("submodules") {
		req.Submodules = *found.Submodules
	}
	if req.Providers != nil && !cmd.IsSet("platform") {
		providers := *req.Providers
		providers.Platforms = found.Platforms
		req.Providers = &providers
	}
	return req, nil
}

// secondLockError reports that a run would create a second lock next to the project's
// existing one, because its settings differ from those of earlier runs.
type secondLockError struct {
	existing, other string
}

func (e *secondLockError) Error() string {
	return fmt.Sprintf("the modules are locked in %s, but this run would lock them in %s, which has no module entries", e.existing, e.other)
}

// checkSecondLock returns an error if a run would create a second lock in a project whose
// settings name a lock file. This happens if a flag names another file than the settings, or
// if the settings name another file than in earlier runs.
func checkSecondLock(req cotter.Request) error {
	found, err := cotter.ReadSettings(req.Dir)
	if err != nil || found.LockFile == "" {
		return err
	}
	name := func(lock string) string {
		if filepath.IsAbs(lock) {
			return filepath.Clean(lock)
		}
		return filepath.Join(req.Dir, lock)
	}
	own := cmp.Or(req.LockFile, stockLockName)
	if _, err := os.Lstat(name(own)); err == nil && locksModules(name(own)) {
		return nil
	}
	for _, other := range slices.Compact([]string{found.LockFile, stockLockName}) {
		if name(other) != name(own) && locksModules(name(other)) {
			return &secondLockError{other, own}
		}
	}
	return nil
}

// locksModules reports whether a file is a lock that has module entries.
func locksModules(name string) bool {
	if _, err := os.Lstat(name); err != nil {
		return false
	}
	lock, err := readLock(name)
	return err == nil && len(lock.Modules()) > 0
}
