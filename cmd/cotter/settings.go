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

// applySettings returns a request with the settings of its project. Flags override them.
// It may be called again for another directory.
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

// secondLockError is a run that would make a second lock beside the one that the project
// has, because its settings are not those of the runs before.
type secondLockError struct {
	existing, other string
}

func (e *secondLockError) Error() string {
	return fmt.Sprintf("the modules are locked in %s, and this run would lock them in %s, which has none of them", e.existing, e.other)
}

// checkSecondLock refuses to make a second lock in a project whose settings name one: if
// a flag names another than they do, or if they name another than the runs before.
func checkSecondLock(req cotter.Request) error {
	found, err := cotter.ReadSettings(req.Dir)
	if err != nil || found.LockFile == "" {
		return err
	}
	const stockName = ".terraform.lock.hcl"
	name := func(lock string) string {
		if filepath.IsAbs(lock) {
			return filepath.Clean(lock)
		}
		return filepath.Join(req.Dir, lock)
	}
	own := cmp.Or(req.LockFile, stockName)
	if _, err := os.Lstat(name(own)); err == nil && locksModules(name(own)) {
		return nil
	}
	for _, other := range slices.Compact([]string{found.LockFile, stockName}) {
		if name(other) != name(own) && locksModules(name(other)) {
			return &secondLockError{other, own}
		}
	}
	return nil
}

// locksModules reports whether a file is a lock with modules.
func locksModules(name string) bool {
	if _, err := os.Lstat(name); err != nil {
		return false
	}
	lock, err := readLock(name)
	return err == nil && len(lock.Modules()) > 0
}
