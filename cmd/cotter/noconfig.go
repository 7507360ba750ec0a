package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/repository"
)

// A directory without configuration is no project, even if it has a lock. Units of Terragrunt are such
// directories: Terragrunt runs the tool in a copy that has the configuration. An installation that may change
// the lock has nothing to do there, other commands fail, and --recursive does not count it.

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
		return true, advice.NoConfigurationError{Dir: dir}
	case out.json:
		out.result(records.ResultOf(done(req), &installer.Result{Dialect: req.Dialect}))
		return true, nil
	}
	out.printf("There is no configuration in %s; nothing to install.\n", dir)
	out.printRemedies(advice.NoConfigurationError{Dir: dir}.Remedies())
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
