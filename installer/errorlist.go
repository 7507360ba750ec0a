package installer

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// ModuleErrors returns the errors about single modules that are in err, in the order of their
// paths and each once. It finds them however they are joined or wrapped: by [errors.Join], by
// other errors, or in the Extra of diagnostics. It does not look into a ModuleError, whose Err
// is the reason for it. The errors of several root modules are mixed: for each of
// [ProjectErrors], ModuleErrors returns those of one.
func ModuleErrors(err error) iter.Seq[*ModuleError] {
	return each(err, func(a, b *ModuleError) int { return strings.Compare(a.Path.String(), b.Path.String()) })
}

// ProjectError is the error of one of the configurations that InstallAll or LockedPackages
// process.
type ProjectError struct {
	// Dir is the root module's directory, as passed to the method.
	Dir string
	// Err is the error for this project.
	Err error
}

func (e *ProjectError) Error() string { return fmt.Sprintf("%s: %s", e.Dir, e.Err) }

func (e *ProjectError) Unwrap() error { return e.Err }

// ProjectErrors returns the errors of single root modules that are in err, in the order in which
// the method of Installer got the root modules. It finds them as [ModuleErrors] does.
func ProjectErrors(err error) iter.Seq[*ProjectError] {
	return each(err, func(*ProjectError, *ProjectError) int { return 0 })
}

// ProviderErrors returns the errors about single providers that are in err, in the order of the
// providers in the lock and each once. It finds them as [ModuleErrors] does.
func ProviderErrors(err error) iter.Seq[*ProviderError] {
	return each(err, func(a, b *ProviderError) int { return a.Provider.Compare(b.Provider) })
}

// each returns the errors of type *E in err, sorted, and each once.
func each[P interface {
	*E
	error
}, E any](err error, compare func(a, b P) int) iter.Seq[P] {
	return func(yield func(P) bool) {
		all := collect[P](nil, err)
		slices.SortStableFunc(all, compare)
		for _, e := range all {
			if !yield(e) {
				return
			}
		}
	}
}

// collect adds the errors of type *E in a tree of errors to list, unless list has them. It does
// not look into errors that it adds.
func collect[P interface {
	*E
	error
}, E any](list []P, err error) []P {
	var within []error
	switch e := err.(type) { //nolint:errorlint // collect looks at each error of the tree
	case nil:
	case P:
		if !slices.Contains(list, e) {
			list = append(list, e)
		}
	case hcl.Diagnostics:
		for _, diag := range e {
			within = append(within, diag)
		}
	case *hcl.Diagnostic:
		if extra, ok := e.Extra.(error); ok {
			within = append(within, extra)
		}
	case interface{ Unwrap() []error }:
		within = e.Unwrap()
	case interface{ Unwrap() error }:
		within = append(within, e.Unwrap())
	}
	for _, err := range within {
		list = collect(list, err)
	}
	return list
}

// join joins errors in one list: the errors that an element joins become elements. It returns
// nil if there are no errors, and a single error as it is.
func join(errs ...error) error {
	var flat []error
	for _, err := range errs {
		flat = append(flat, parts(err)...)
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return errors.Join(flat...)
}

// parts returns the errors that errors.Join has joined, at all levels, and any other error by
// itself. An error that wraps several others in a sentence of its own is one error.
func parts(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || reflect.TypeOf(err) != reflect.TypeOf(errors.Join(err)) {
		return []error{err}
	}
	var flat []error
	for _, part := range joined.Unwrap() {
		flat = append(flat, parts(part)...)
	}
	return flat
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
