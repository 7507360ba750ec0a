package advice

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/lockfile"
)

type hintedError struct {
	err  error
	hint string
}

func (e hintedError) Error() string { return e.err.Error() }

func (e hintedError) Unwrap() error { return e.err }

// Advised is an error of the command itself with what to do about it.
func Advised(text, remedy string) error { return Hinted(errors.New(text), remedy) }

// Hinted adds what to do to an error; nothing if it is "".
func Hinted(err error, hint string) error {
	if hint == "" {
		return err
	}
	return hintedError{err, hint}
}

// ReportError is the conclusion of a report. The causes were printed as part of it; their remedies and the others are
// printed after this error.
type ReportError struct {
	Err      error
	Causes   []error
	Remedies []Remedy
}

func (e ReportError) Error() string { return e.Err.Error() }

func (e ReportError) Unwrap() error { return e.Err }

// NoConfigurationError is about a directory without a module.
type NoConfigurationError struct{ Dir string }

func (e NoConfigurationError) Error() string {
	return fmt.Sprintf("no configuration files in %s", e.Dir)
}

func (e NoConfigurationError) Remedies() []Remedy {
	unit, below := LookBelow(e.Dir)
	switch {
	case unit:
		return do(UseHook)
	case below != "":
		return do(fmt.Sprintf("There is configuration in %s: use `--recursive` for all root modules below the directory, or `--chdir` for one.", view.ShellWord(below)))
	}
	return nil
}

// UseHook is for directories with a lock and without configuration.
const UseHook = "If it is a unit of Terragrunt, run `cotter install` in a `before_hook`, where Terragrunt has written the configuration: docs/ci.md has one."

// maxLookBelow limits a search for a hint, because the directory may be the root of a disk.
const maxLookBelow = 10_000

// LookBelow returns the first directory with configuration below another one, relative to it. unit reports
// that there is a lock and no configuration.
func LookBelow(top string) (unit bool, below string) {
	seen := 0
	_ = filepath.WalkDir(top, func(name string, entry fs.DirEntry, err error) error {
		seen++
		switch {
		case seen > maxLookBelow:
			return fs.SkipAll
		case err != nil:
			return nil //nolint:nilerr // such a directory gives no hint
		case !entry.IsDir():
			unit = unit || entry.Name() == lockfile.Name
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
