package cotter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/sync/errgroup"
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
	// resolve finds out where the module that a node calls is.
	resolve func(context.Context, *node) error
	// warn is told of diagnostics that are no errors.
	warn func(*node, *hcl.Diagnostic)
	// parallel is how many directories are read at once.
	parallel int
}

// walk returns all modules below root, sorted by path. A call that fails does
// not stop the others: the error joins all failures in the order of their
// paths.
func (w *walker) walk(ctx context.Context, root *node) ([]*node, error) {
	all, failures := w.survey(ctx, root)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return all, failures.join()
}

// survey is walk for those who want to know what failed one by one. When ctx
// ends it has not seen all.
func (w *walker) survey(ctx context.Context, root *node) ([]*node, *failures) {
	var all []*node
	var failures failures
	level := []*node{root}
	seen := make(map[string]*node)
	for depth := 0; len(level) > 0; depth++ {
		calls := distinct(w.calls(ctx, level, &failures), seen, &failures)
		if len(calls) > 0 && depth == maxDepth {
			failures.add(calls[0], calls[0].fail(fmt.Errorf("%w: more than %d calls lead to it", ErrTooManyModules, maxDepth)))
			break
		}
		if len(all)+len(calls) > maxModules {
			failures.add(root, fmt.Errorf("%w: more than %d module calls", ErrTooManyModules, maxModules))
			break
		}
		level = w.resolveAll(ctx, calls, &failures)
		all = append(all, level...)
	}
	slices.SortFunc(all, func(a, b *node) int { return compareKeys(a.path.String(), b.path.String()) })
	return all, &failures
}

// calls reads the configuration of the modules of one depth and returns the
// nodes that they call.
func (w *walker) calls(ctx context.Context, level []*node, failures *failures) []*node {
	found := make([][]*node, len(level))
	var group errgroup.Group
	group.SetLimit(w.parallel)
	for i, n := range level {
		group.Go(func() error {
			if ctx.Err() == nil {
				found[i] = w.callsOf(ctx, n, failures)
			}
			return nil
		})
	}
	_ = group.Wait()
	return slices.Concat(found...)
}

func (w *walker) callsOf(ctx context.Context, n *node, failures *failures) []*node {
	dir := ConfigDir{Path: n.path, Dir: n.now, Display: n.dir, Dialect: w.dialect}
	if n.pkg != nil {
		dir.Boundary = n.pkg.now
	}
	calls, diags := w.config.ReadCalls(ctx, dir)
	if diags.HasErrors() {
		failures.add(n, &ConfigError{Path: n.path, Diagnostics: diags})
		return nil
	}
	for _, diag := range diags {
		w.warn(n, diag)
	}
	var children []*node
	for _, call := range calls {
		children = append(children, &node{path: call.pathIn(n.path), parent: n, call: call})
	}
	return children
}

// distinct are the nodes without those whose keys others have: a module that a
// test runs may be called like a module of the configuration.
func distinct(nodes []*node, seen map[string]*node, failures *failures) []*node {
	return slices.DeleteFunc(nodes, func(n *node) bool {
		key := n.path.String()
		first, found := seen[key]
		if found {
			failures.add(n, n.fail(fmt.Errorf("%w: the one at %s:%d would be installed there too; rename one of them",
				ErrSameKey, first.call.Range.Filename, first.call.Range.Start.Line)))
			return true
		}
		seen[key] = n
		return false
	})
}

// resolveAll resolves the nodes side by side and returns those that it could.
// Each has a goroutine of its own, because most wait for a package that
// another one fetches; how much is done at once is the resolver's business.
func (w *walker) resolveAll(ctx context.Context, nodes []*node, failures *failures) []*node {
	ok := make([]bool, len(nodes))
	var wait sync.WaitGroup
	for i, n := range nodes {
		wait.Go(func() {
			err := w.resolve(ctx, n)
			if err == nil {
				err = n.checkCycle()
				if err != nil {
					err = n.fail(err)
				}
			}
			ok[i] = err == nil
			if err != nil && !errors.Is(err, errRefused) {
				failures.add(n, err)
			}
		})
	}
	wait.Wait()
	var resolved []*node
	for i, n := range nodes {
		if ok[i] {
			resolved = append(resolved, n)
		}
	}
	return resolved
}

// failures collects what went wrong, from any goroutine.
type failures struct {
	mu   sync.Mutex
	list []failure
}

type failure struct {
	node *node
	err  error
}

func (f *failures) add(n *node, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, failure{n, err})
}

// has reports whether something went wrong with a node.
func (f *failures) has(n *node) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(failure failure) bool { return failure.node == n })
}

// sorted are all failures in the order of their nodes' paths.
func (f *failures) sorted() []failure {
	slices.SortStableFunc(f.list, func(a, b failure) int { return compareKeys(a.node.path.String(), b.node.path.String()) })
	return f.list
}

// join is all failures as one error, or nil.
func (f *failures) join() error {
	var errs []error
	for _, failure := range f.sorted() {
		errs = append(errs, failure.err)
	}
	return errors.Join(errs...)
}
