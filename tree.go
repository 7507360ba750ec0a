package cotter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/lockfile"
)

// The limits of a module tree. Real trees have a few hundred calls and are less than ten
// levels deep. A tree in which packages call each other in a circle has no end.
const (
	maxDepth   = 100
	maxModules = 20_000
)

// walker walks a module tree breadth-first, all modules of one depth at once.
type walker struct {
	config  ConfigReader
	dialect Dialect
	// place finds the module of a call, or puts it in its place. The walk reports its error
	// unless it is errRefused.
	place func(context.Context, *call) (*module, error)
	// begin, which may be nil, is called with the calls of the root module before they are
	// placed.
	begin func(context.Context, []parsedCall)
	// require, which may be nil, is called with the configuration of each module, to
	// collect provider requirements.
	require func(addrs.Module, ModuleConfig)
	// warn is called with diagnostics that are not errors.
	warn func(addrs.Module, *hcl.Diagnostic)
	// parallel is the number of directories that are read at once.
	parallel int
}

// walk returns all modules below the root module in dir, sorted by path, and the failures.
// If a call fails, the others continue. If ctx ends, some calls may not have been seen.
func (w *walker) walk(ctx context.Context, dir string) ([]*module, *failures) {
	var all []*module
	var failures failures
	level := []*module{{currentPath: dir, finalPath: "."}}
	seen := make(map[string]*call)
	for depth := 0; len(level) > 0; depth++ {
		calls := distinct(w.calls(ctx, level, &failures), seen, &failures)
		if len(calls) > 0 && depth == maxDepth {
			c := calls[0].call
			failures.addCall(c, c.fail(fmt.Errorf("%w: more than %d calls above it", ErrTooManyModules, maxDepth)))
			break
		}
		if len(all)+len(calls) > maxModules {
			failures.add(nil, nil, fmt.Errorf("%w: more than %d module calls", ErrTooManyModules, maxModules))
			break
		}
		if depth == 0 && w.begin != nil {
			w.begin(ctx, calls)
		}
		level = w.placeAll(ctx, calls, &failures)
		all = append(all, level...)
	}
	slices.SortFunc(all, func(a, b *module) int { return strings.Compare(a.key(), b.key()) })
	return all, &failures
}

// parsedCall is a call with the error from parsing it.
type parsedCall struct {
	*call
	err error
}

// calls reads the configuration of the modules of one depth, and returns their calls.
func (w *walker) calls(ctx context.Context, level []*module, failures *failures) []parsedCall {
	found := make([][]parsedCall, len(level))
	var group errgroup.Group
	group.SetLimit(w.parallel)
	for i, m := range level {
		group.Go(func() error {
			if ctx.Err() == nil {
				found[i] = w.callsOf(ctx, m, failures)
			}
			return nil
		})
	}
	_ = group.Wait()
	return slices.Concat(found...)
}

func (w *walker) callsOf(ctx context.Context, m *module, failures *failures) []parsedCall {
	dir := ConfigDir{Path: m.path(), Dir: m.currentPath, Display: m.finalPath, Dialect: w.dialect, Providers: w.require != nil}
	if m.pkg != nil {
		dir.Boundary = m.pkg.currentPath
	}
	config, diags := w.config.ReadModule(ctx, dir)
	if diags.HasErrors() {
		failures.add(m.path(), m.call, &ConfigError{Path: m.path(), Diagnostics: diags})
		return nil
	}
	for _, diag := range diags {
		w.warn(m.path(), diag)
	}
	if w.require != nil {
		w.require(m.path(), config)
	}
	var calls []parsedCall
	for _, block := range config.Calls {
		c, err := parseCall(m, block, w.dialect)
		calls = append(calls, parsedCall{c, err})
	}
	return calls
}

// distinct removes calls whose keys are already in use. For example, a module that a test
// runs may have the same key as a module of the configuration.
func distinct(calls []parsedCall, seen map[string]*call, failures *failures) []parsedCall {
	return slices.DeleteFunc(calls, func(c parsedCall) bool {
		first, found := seen[c.key()]
		if found {
			failures.addCall(c.call, c.fail(fmt.Errorf("%w: the one at %s:%d would be installed there too; rename one of them",
				ErrSameKey, first.Range.Filename, first.Range.Start.Line)))
			return true
		}
		seen[c.key()] = c.call
		return false
	})
}

// placeAll places the modules of calls in parallel, and returns the modules that could be
// placed. Each call has its own goroutine, because most calls wait for a package that
// another goroutine fetches. place limits the amount of parallel work.
func (w *walker) placeAll(ctx context.Context, calls []parsedCall, failures *failures) []*module {
	placed := make([]*module, len(calls))
	var wait sync.WaitGroup
	for i, c := range calls {
		if c.err != nil {
			failures.addCall(c.call, c.err)
			continue
		}
		wait.Go(func() {
			m, err := w.place(ctx, c.call)
			if err == nil {
				err = m.checkCycle()
			}
			switch {
			case err == nil:
				placed[i] = m
			case !errors.Is(err, errRefused):
				failures.addCall(c.call, err)
			}
		})
	}
	wait.Wait()
	return slices.DeleteFunc(placed, func(m *module) bool { return m == nil })
}

// resolvedTree is the module tree of an installation. All of its packages are staged or
// installed.
type resolvedTree struct {
	// modules is sorted by path.
	modules []*module
	// restored has the entries that the lock had lost.
	restored *lockentry.Restored
	// earlier is the lock that they were in; nil if nothing was restored.
	earlier *lockfile.File
	// hostless is the first call whose registry host depends on the stock tool; nil if
	// there is no such call.
	hostless *call
}

// failures collects errors from several goroutines.
type failures struct {
	mu   sync.Mutex
	list []failure
}

// failure is an error about one module: about its call or its configuration.
type failure struct {
	path addrs.Module
	call *call // nil for the root module
	err  error
}

func (f *failures) add(path addrs.Module, c *call, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, failure{path, c, err})
}

func (f *failures) addCall(c *call, err error) { f.add(c.path, c, err) }

// has reports whether there is a failure of the module at path.
func (f *failures) has(path addrs.Module) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(failure failure) bool { return failure.path.String() == path.String() })
}

// hasAtOrAbove reports whether there is a failure of the module at path or of a module
// above it.
func (f *failures) hasAtOrAbove(path addrs.Module) bool {
	for _, failure := range f.sorted() {
		if at := failure.path; len(at) <= len(path) && at.String() == path[:len(at)].String() {
			return true
		}
	}
	return false
}

// sorted returns all failures in the order of their paths.
func (f *failures) sorted() []failure {
	f.mu.Lock()
	defer f.mu.Unlock()
	sorted := slices.Clone(f.list)
	slices.SortStableFunc(sorted, func(a, b failure) int { return strings.Compare(a.path.String(), b.path.String()) })
	return sorted
}

// errs returns the errors of all failures, in the order of their paths.
func (f *failures) errs() []error {
	var errs []error
	for _, failure := range f.sorted() {
		errs = append(errs, failure.err)
	}
	return errs
}

// join returns all failures as one error, or nil.
func (f *failures) join() error { return errors.Join(f.errs()...) }
