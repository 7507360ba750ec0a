package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/repository"
)

// A directory without configuration is no project, even if it has a lock. Units of Terragrunt are such
// directories: Terragrunt runs the tool in a copy that has the configuration. An installation that may change
// the lock has nothing to do there, other commands fail, and --recursive does not count it.

type noConfigurationError struct{ dir string }

func (e noConfigurationError) Error() string {
	return fmt.Sprintf("no configuration files in %s", e.dir)
}

// useHook is for directories with a lock and without configuration.
const useHook = "If it is a unit of Terragrunt, run `cotter install` in a `before_hook`, where Terragrunt has written the configuration: docs/ci.md has one."

func (e noConfigurationError) remedies() []remedy {
	unit, below := lookBelow(e.dir)
	switch {
	case unit:
		return do(useHook)
	case below != "":
		return do(fmt.Sprintf("There is configuration in %s: use `--recursive` for all root modules below the directory, or `--chdir` for one.", shellWord(below)))
	}
	return nil
}

// maxLookBelow limits a search for a hint, because the directory may be the root of a disk.
const maxLookBelow = 10_000

// lookBelow returns the first directory with configuration below another one, relative to it. unit reports
// that there is a lock and no configuration.
func lookBelow(top string) (unit bool, below string) {
	seen := 0
	_ = filepath.WalkDir(top, func(name string, entry fs.DirEntry, err error) error {
		seen++
		switch {
		case seen > maxLookBelow:
			return fs.SkipAll
		case err != nil:
			return nil //nolint:nilerr // such a directory gives no hint
		case !entry.IsDir():
			unit = unit || entry.Name() == stockLockName
			return nil
		case name == top:
			return nil
		case strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		}
		if has, err := repository.HasConfiguration(context.Background(), installer.Project{Dir: name}); err == nil && has {
			below, _ = filepath.Rel(top, name)
			return fs.SkipAll
		}
		return nil
	})
	return unit && below == "", filepath.ToSlash(below)
}

// withoutConfiguration returns the absolute directory of a request, and whether it has no configuration. It
// reports false for a directory that cannot be read: the installer returns the error.
func withoutConfiguration(ctx context.Context, req request) (string, bool) {
	full, err := repository.HasConfiguration(ctx, req.Project)
	dir := cmp.Or(req.Dir, ".")
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	return dir, !full && err == nil
}

// skipEmpty reports whether a directory has no configuration, and says so. A locked installation fails,
// because it must prove that the lock fits a configuration.
func skipEmpty(ctx context.Context, out *output, req request) (bool, error) {
	dir, empty := withoutConfiguration(ctx, req)
	switch {
	case !empty:
		return false, nil
	case req.Locked:
		return true, noConfigurationError{dir}
	case out.json:
		out.result(jsonResult(done(req), &installer.Result{Dialect: req.Dialect}))
		return true, nil
	}
	out.printf("There is no configuration in %s; nothing to install.\n", dir)
	out.printRemedies(noConfigurationError{dir}.remedies())
	return true, nil
}

// withConfiguration returns the directories that skipEmpty does not skip.
func withConfiguration(ctx context.Context, out *output, dirs []string, req request) ([]string, error) {
	var kept []string
	var failed []error
	for _, dir := range dirs {
		req.Dir = dir
		empty, err := skipEmpty(ctx, out, req)
		if err != nil {
			failed = append(failed, err)
		}
		if !empty {
			kept = append(kept, dir)
		}
	}
	return kept, errors.Join(failed...)
}
