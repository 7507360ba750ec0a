package treewalk

import (
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
)

// Failures collects errors from several goroutines.
type Failures struct {
	mu   sync.Mutex
	list []Failure
}

// Failure is an error about one module: about its call or its configuration.
type Failure struct {
	Path addrs.Module
	Call *Call // nil for the root module
	Err  error
}

// Add adds an error about the module at a path. c is nil for the root module.
func (f *Failures) Add(path addrs.Module, c *Call, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, Failure{path, c, err})
}

// AddCall adds an error about a call.
func (f *Failures) AddCall(c *Call, err error) { f.Add(c.Path, c, err) }

// Has reports whether there is an error about a module.
func (f *Failures) Has(path addrs.Module) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(failure Failure) bool { return failure.Path.String() == path.String() })
}

// HasAtOrAbove reports whether there is one about a module or about one above it.
func (f *Failures) HasAtOrAbove(path addrs.Module) bool {
	for _, failure := range f.Sorted() {
		if at := failure.Path; len(at) <= len(path) && at.String() == path[:len(at)].String() {
			return true
		}
	}
	return false
}

// Sorted returns the failures by path.
func (f *Failures) Sorted() []Failure {
	f.mu.Lock()
	defer f.mu.Unlock()
	sorted := slices.Clone(f.list)
	slices.SortStableFunc(sorted, func(a, b Failure) int { return strings.Compare(a.Path.String(), b.Path.String()) })
	return sorted
}

// Errs returns their errors, sorted by path.
func (f *Failures) Errs() []error {
	var errs []error
	for _, failure := range f.Sorted() {
		errs = append(errs, failure.Err)
	}
	return errs
}

// Take removes the failures for which isOne returns true, sorted by path, and returns them.
func (f *Failures) Take(isOne func(error) bool) []Failure {
	var taken []Failure
	for _, failure := range f.Sorted() {
		if isOne(failure.Err) {
			taken = append(taken, failure)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = slices.DeleteFunc(f.list, func(failure Failure) bool { return isOne(failure.Err) })
	return taken
}
