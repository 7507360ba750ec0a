package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/internal/configs"
)

// noConfigurationError is a directory without configuration, where one is
// needed: for a locked installation, an update, or newer versions to look for.
type noConfigurationError struct{ dir string }

func (e noConfigurationError) Error() string {
	return fmt.Sprintf("no configuration files in %s", e.dir)
}

// withoutConfiguration reports whether the directory of a request has no
// configuration, and how to name it. A directory that cannot be read is not
// meant: the installer says what is wrong with it.
func withoutConfiguration(req cotter.Request) (string, bool) {
	reader := configs.Reader{Terraform: req.Dialect == cotter.DialectTerraform}
	dir := cmp.Or(req.Dir, ".")
	empty, err := reader.Empty(configs.Dir{Path: dir, Tests: cmp.Or(req.Inputs.TestDir, configs.DefaultTests)})
	if full, err := filepath.Abs(dir); err == nil {
		dir = full
	}
	return dir, empty && err == nil
}

// skipEmpty reports whether a request is about a directory without
// configuration, and says that there is nothing to install. For a locked
// installation, which is to prove something, it is an error.
func skipEmpty(out *output, req cotter.Request) (bool, error) {
	dir, empty := withoutConfiguration(req)
	switch {
	case !empty:
		return false, nil
	case req.Locked:
		return true, noConfigurationError{dir}
	case out.json:
		return true, out.writeJSON(jsonResult(done(req), &cotter.Result{Dialect: req.Dialect}))
	}
	out.printf("There is no configuration in %s; nothing to install.\n", dir)
	return true, nil
}

// installOne installs the project of a request, unless it is empty.
func installOne(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request) error {
	if empty, err := skipEmpty(out, req); empty || err != nil {
		return err
	}
	return install(ctx, cmd, out, req)
}

// withConfiguration returns the directories that are not to be skipped.
func withConfiguration(out *output, dirs []string, req cotter.Request) ([]string, error) {
	var kept []string
	var failed []error
	for _, dir := range dirs {
		req.Dir = dir
		empty, err := skipEmpty(out, req)
		if err != nil {
			failed = append(failed, err)
		}
		if !empty {
			kept = append(kept, dir)
		}
	}
	return kept, errors.Join(failed...)
}
