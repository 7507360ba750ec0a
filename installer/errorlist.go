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

// ModuleErrors returns the errors about single modules in err, each once and by path, also if they are joined,
// wrapped or in the Extra of diagnostics. The Err of a ModuleError is not searched. For several projects, call
// it with each of [ProjectErrors].
func ModuleErrors(err error) iter.Seq[*ModuleError] {
	return each(err, func(a, b *ModuleError) int { return strings.Compare(a.Path.String(), b.Path.String()) })
}

// ProjectError is the error of one of several projects.
type ProjectError struct {
	Dir string // as passed to the method
	Err error
}

func (e *ProjectError) Error() string { return fmt.Sprintf("%s: %s", e.Dir, e.Err) }

func (e *ProjectError) Unwrap() error { return e.Err }

// ProjectErrors returns the errors of single projects in err, in the order of the method's argument.
func ProjectErrors(err error) iter.Seq[*ProjectError] {
	return each(err, func(*ProjectError, *ProjectError) int { return 0 })
}

// ProviderErrors is like [ModuleErrors] for providers.
func ProviderErrors(err error) iter.Seq[*ProviderError] {
	return each(err, func(a, b *ProviderError) int { return a.Provider.Compare(b.Provider) })
}

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

// collect adds the errors of type *E in a tree of errors that list does not have. It does not look into them.
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

// join joins errors in one flat list, and returns a single error as it is.
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

// parts returns the errors that errors.Join has joined, at all levels. An error that wraps several others in a
// sentence of its own is one error.
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
