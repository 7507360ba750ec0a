package config

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
)

// Kinds of failure of a module call, for errors.Is.
var (
	ErrCycle          = errors.New("the module calls itself")
	ErrEscapesPackage = errors.New("local module path escapes module package")
	ErrNotInstalled   = errors.New("module not installed")
	ErrNoSubdir       = errors.New("module subdirectory not found") // a package does not have the directory of its module
	ErrSameKey        = errors.New("two module calls have the same key")
	ErrTooManyModules = errors.New("the module tree is too large")
)

// ModuleError is an error about one module call. It wraps, for example, a *getmodules.FetchError, a
// *registryclient.RequestError, a *versions.NoMatchError, a *installer.HashMismatchError or an error of this package.
type ModuleError struct {
	Path addrs.Module
	// Source is the source argument, without credentials, and Range the call or the argument that caused the
	// error; empty if the configuration has no such call.
	Source string
	Range  hcl.Range
	// Dir is the directory to which a local Source is relative: that of the module with the call, relative to
	// the root module, also if the call is in a test in another directory. It is empty if Source is.
	Dir string
	Err error
}

func (e *ModuleError) Error() string {
	if e.Range.Filename == "" {
		return fmt.Sprintf("module %s: %s", e.Path, e.Err)
	}
	return fmt.Sprintf("module %s (%s:%d): %s", e.Path, e.Range.Filename, e.Range.Start.Line, e.Err)
}

func (e *ModuleError) Unwrap() error { return e.Err }

// Error says that a module's configuration could not be read. It wraps the diagnostics, whose ranges name files
// relative to the root module, and the errors in their Extra, such as *[FileReadError].
type Error struct {
	Path        addrs.Module
	Diagnostics hcl.Diagnostics
}

// Error returns all errors among the diagnostics, one a line.
func (e *Error) Error() string   { return hcldepth.ErrorText(e.Diagnostics) }
func (e *Error) Unwrap() []error { return hcldepth.Errors(e.Diagnostics) }
