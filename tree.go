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
)

// The limits of a module tree. Real trees have a few hundred calls at a depth
// below ten; a package that calls others in a circle has no end.
const (
	maxDepth   = 100
	maxModules = 20_000
)

// walker walks a module tree breadth-first: all modules of one depth at once.
type walker struct {
	config  ConfigReader
	dialect Dialect
	// place finds the module of a call, or puts it in its place. Its error is
	// reported by the walk unless it is errRefused.
	place func(context.Context, *call) (*module, error)
	// begin, which may be nil, is called with the calls of the root module before they
	// are placed.
	begin func(context.Context, []parsedCall)
	// require is told what each module requires of providers; nil if nobody needs to
	// know.
	require func(addrs.Module, ModuleConfig)
	// warn is called with diagnostics that are not errors.
	warn func(addrs.Module, *hcl.Diagnostic)
	// parallel is how many directories are read at once.
	parallel int
}

// walk returns all modules below the root module, which is in dir, sorted by path,
// and what failed. A call that fails does not stop the others. If ctx ends, not all
// calls were seen.
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

// parsedCall is a call that was found, and what is wrong with it.
type parsedCall struct {
	*call
	err error
}

// calls reads the configuration of the modules of one depth and returns their
// calls.
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

// distinct returns the calls without those whose keys others have: a module that a
// test runs may be called like a module of the configuration.
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

// placeAll places the modules of calls side by side and returns those that it
// could. Each has a goroutine of its own, because most wait for a package that
// another one fetches; place bounds how much is done at once.
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

// resolvedTree is the module tree of an installation, with all packages on the stage or in
// their places.
type resolvedTree struct {
	// modules are sorted by path.
	modules []*module
	// restored are the entries that the lock had lost.
	restored *lockentry.Restored
	// hostless is the first call that leaves the registry's host to the stock tool; nil if
	// none does.
	hostless *call
}

// failures collects what went wrong, from any goroutine.
type failures struct {
	mu   sync.Mutex
	list []failure
}

// failure is what went wrong with one module: its call, or its configuration.
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

// has reports whether something went wrong with the module at path.
func (f *failures) has(path addrs.Module) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(failure failure) bool { return failure.path.String() == path.String() })
}

// hasAtOrAbove reports whether something went wrong with the module at path, or
// with one of those above it.
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
