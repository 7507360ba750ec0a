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

// noConfigurationError reports a directory without configuration, for a command that needs
// one: a locked installation, an update, or a search for newer versions.
type noConfigurationError struct{ dir string }

func (e noConfigurationError) Error() string {
	return fmt.Sprintf("no configuration files in %s", e.dir)
}

// withoutConfiguration returns the absolute directory of a request, and reports whether it
// has no configuration. It reports false for a directory that cannot be read, because the
// installer returns the error.
func withoutConfiguration(req cotter.Request) (string, bool) {
	reader := configs.Reader{Terraform: req.Dialect == cotter.DialectTerraform}
	dir := cmp.Or(req.Dir, ".")
	empty, err := reader.Empty(configs.Dir{Path: dir, Tests: cmp.Or(req.Inputs.TestDir, configs.DefaultTests)})
	if full, err := filepath.Abs(dir); err == nil {
		dir = full
	}
	return dir, empty && err == nil
}

// skipEmpty reports whether the directory of a request has no configuration. If so, it
// prints that there is nothing to install. For a locked installation it returns an error
// instead: such an installation must prove that the lock fits a configuration.
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

// withConfiguration returns the directories that have a configuration. It skips the others
// as skipEmpty does.
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
