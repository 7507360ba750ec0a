package installer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
)

// walker walks a module tree. It goes on below a module as soon as that is in its place, so no module waits for
// another one that is not above it.
type walker struct {
	project *openProject
	config  ConfigReader
	// root is where the walk begins; nil means the root module as the configuration has it.
	root *module
	// find finds the module of a call, and may fetch it. The walk reports its error unless it is errLeftOut.
	find func(context.Context, *call) (*module, error)
	// The other functions may be nil. placed gets each module that is in its place.
	placed func(*module)
	// begin gets the calls of the root module before they are placed.
	begin func(context.Context, []parsedCall)
	// require gets the configuration of each module, and makes the walk read provider requirements.
	require func(*module, config.Module)
	// warn gets diagnostics that are not errors.
	warn func(Event)
	// parallel is the number of directories that are read at once.
	parallel int
}

var errLeftOut = errors.New("the call is left out")

// walk returns all modules below the root module and all calls, sorted by path, and the failures. If a call
// fails, the others continue. If ctx ends, some calls may not have been seen.
func (w *walker) walk(ctx context.Context) (modules []*module, calls []*call, failed *failures) {
	t := &traversal{walker: w, reads: make(chan struct{}, w.parallel), seen: make(map[string]*call), failures: &failures{}}
	root := w.root
	if root == nil {
		root = w.project.rootModule()
	}
	t.wait.Go(func() { t.below(ctx, root, 0) })
	t.wait.Wait()
	for len(t.inside) > 0 {
		t.belowInside(ctx)
	}
	if t.tooDeep != nil {
		t.failures.addCall(t.tooDeep, t.tooDeep.fail(fmt.Errorf("%w: more than %d calls above it", ErrTooManyModules, maxDepth)))
	}
	if len(t.seen) > maxModules {
		t.failures.add(nil, nil, fmt.Errorf("%w: more than %d module calls", ErrTooManyModules, maxModules))
	}
	slices.SortFunc(t.modules, func(a, b *module) int { return strings.Compare(a.key(), b.key()) })
	calls = slices.SortedFunc(maps.Values(t.seen), func(a, b *call) int { return strings.Compare(a.key(), b.key()) })
	return t.modules, calls, t.failures
}

type traversal struct {
	*walker
	wait     sync.WaitGroup
	reads    chan struct{}
	failures *failures

	mu      sync.Mutex
	modules []*module
	// seen has the calls so far by key, and tooDeep is the first by key of those that have too many calls above
	// them.
	seen    map[string]*call
	tooDeep *call
	// inside are the calls that point into the packages of other calls and are not placed yet.
	inside []insideCall
}

// insideCall is a call with a local path into the package of another call. Some projects write the version of a
// package once: one call installs it, and others have paths such as "./.terraform/modules/KEY/network" that
// point into it. They are placed last, because the package must be placed first.
type insideCall struct {
	*call
	depth int
	// key is that of the call whose package it is, and subdir is the directory in the package.
	key, subdir string
}

type parsedCall struct {
	*call
	err error
}

// below reads a module, and places the modules that it calls. Each call has its own goroutine, because most
// wait for a package that another goroutine fetches. The pool limits the parallel work.
func (t *traversal) below(ctx context.Context, m *module, depth int) {
	calls := t.admit(t.calls(ctx, m), depth)
	if depth == 0 && t.begin != nil {
		t.begin(ctx, calls)
	}
	for _, c := range calls {
		if c.err != nil {
			t.failures.addCall(c.call, c.err)
			continue
		}
		if t.postpone(c.call, depth) {
			continue
		}
		t.wait.Go(func() { t.follow(ctx, c.call, depth, t.find) })
	}
}

func (t *traversal) follow(ctx context.Context, c *call, depth int, find func(context.Context, *call) (*module, error)) {
	m, err := find(ctx, c)
	if err == nil {
		err = m.checkCycle()
	}
	switch {
	case err == nil:
		t.mu.Lock()
		t.modules = append(t.modules, m)
		t.mu.Unlock()
		if t.placed != nil {
			t.placed(m)
		}
		t.below(ctx, m, depth+1)
	case !errors.Is(err, errLeftOut):
		t.failures.addCall(c, err)
	}
}

// postpone reports whether the path of a call points into the package of another call, and keeps the call for
// belowInside.
func (t *traversal) postpone(c *call, depth int) bool {
	key, subdir, ok := c.inside(t.project.dirs.PackageDir(""))
	if !ok {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inside = append(t.inside, insideCall{c, depth, key, subdir})
	return true
}

// inside returns the key of the call into whose package the path of a call points, and the directory in it.
// packages is the directory of installed packages, as modules.json would name it.
func (c *call) inside(packages string) (key, subdir string, ok bool) {
	source, ok := c.from.Address.(addrs.ModuleSourceLocal)
	if !ok || !c.own() || c.isDirectory() || c.caller.linksTo != "" {
		return "", "", false
	}
	rest, ok := strings.CutPrefix(path.Join(c.caller.finalPath, string(source)), packages+"/")
	if !ok {
		return "", "", false
	}
	key, subdir, _ = strings.Cut(rest, "/")
	return key, subdir, true
}

// holdsOthers reports whether the paths of other calls may point to directories below the module's.
func (m *module) holdsOthers() bool { return (m.ownsPackage() || m.linksTo != "") && !m.isLocked() }

func (m *module) inside(c *call, subdir string) (*module, error) {
	if m.linksTo != "" {
		return m.linked(c, subdir)
	}
	return moduleIn(c, m.pkg, subdir)
}

// belowInside places the postponed calls in packages that have been placed. Paths to anything else are like
// those to the project's own modules.
func (t *traversal) belowInside(ctx context.Context) {
	owners := make(map[string]*module)
	for _, m := range t.modules {
		if m.holdsOthers() {
			owners[m.key()] = m
		}
	}
	calls, seen := t.inside, maps.Clone(t.seen)
	t.inside = nil
	for _, c := range calls {
		find := t.find
		if owner, ok := owners[c.key]; ok {
			find = func(context.Context, *call) (*module, error) { return owner.inside(c.call, c.subdir) }
		} else if called, ok := seen[c.key]; ok && !called.from.IsLocal() {
			continue // the failure of that call is reported
		}
		t.wait.Go(func() { t.follow(ctx, c.call, c.depth, find) })
	}
	t.wait.Wait()
}

// calls reads the configuration of a module. If not all of it can be read, that is a failure, and the calls are
// those that could be read.
func (t *traversal) calls(ctx context.Context, m *module) []parsedCall {
	t.reads <- struct{}{}
	defer func() { <-t.reads }()
	if ctx.Err() != nil {
		return nil
	}
	if m.isLocked() {
		return slices.DeleteFunc(t.parse(m, t.project.lockedCalls(m.path())), func(c parsedCall) bool { return t.isSeen(c.key()) })
	}
	dir := config.Dir{Path: m.path(), Dir: m.currentPath, Display: m.finalPath, Terraform: t.project.readsAsTerraform(), Providers: t.require != nil}
	if m.pkg != nil {
		dir.Files, dir.Subdir = m.pkg.files, m.subdir
		defer m.pkg.files.Hold()()
	}
	config, diags := t.config.ReadModule(ctx, dir)
	if diags.HasErrors() {
		t.failures.add(m.path(), m.call, &ConfigError{Path: m.path(), Diagnostics: diags})
	}
	for _, diag := range diags {
		if diag.Severity != hcl.DiagError && t.warn != nil {
			t.warn(warningOf(m.path(), diag))
		}
	}
	if t.require != nil {
		t.require(m, config)
	}
	return t.parse(m, config.Calls)
}

func (t *traversal) parse(m *module, blocks []config.Call) []parsedCall {
	var calls []parsedCall
	for _, block := range blocks {
		c, err := t.project.parseCall(m, block)
		calls = append(calls, parsedCall{c, err})
	}
	return calls
}

// admit returns the calls of a module that are to be placed: none beyond the limits of the tree, and none whose
// key is in use. A module that a test runs may have the key of another one. Tests belong to the root module,
// whose calls come first.
func (t *traversal) admit(calls []parsedCall, depth int) []parsedCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	if depth == maxDepth && len(calls) > 0 {
		if first := calls[0].call; t.tooDeep == nil || first.key() < t.tooDeep.key() {
			t.tooDeep = first
		}
		return nil
	}
	return slices.DeleteFunc(calls, func(c parsedCall) bool {
		if len(t.seen) > maxModules {
			return true
		}
		first, found := t.seen[c.key()]
		if found {
			t.failures.addCall(c.call, c.fail(errSameKey(first.Call)))
			return true
		}
		t.seen[c.key()] = c.call
		return false
	})
}

// isSeen reports whether the configuration has a call of this key. The lock does not say which of the modules above
// it has the call: test.tests.vpc.unit.x is a call of test.tests.vpc.unit, or the run x of tests/vpc.unit.tftest.hcl.
func (t *traversal) isSeen(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen[key] != nil
}

func errSameKey(first config.Call) error {
	if first.Range.Filename == "" {
		return fmt.Errorf("%w: the one with the source %q would be installed there too; rename one of them", ErrSameKey, addrs.Redact(first.Source))
	}
	return fmt.Errorf("%w: the one at %s:%d would be installed there too; rename one of them", ErrSameKey, first.Range.Filename, first.Range.Start.Line)
}

// The limits of a module tree. Real trees have a few hundred calls and are less than ten levels deep. A tree in
// which packages call each other in a circle has no end.
const (
	maxDepth   = 100
	maxModules = 20_000
)

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

func (f *failures) has(path addrs.Module) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(failure failure) bool { return failure.path.String() == path.String() })
}

func (f *failures) hasAtOrAbove(path addrs.Module) bool {
	for _, failure := range f.sorted() {
		if at := failure.path; len(at) <= len(path) && at.String() == path[:len(at)].String() {
			return true
		}
	}
	return false
}

func (f *failures) sorted() []failure {
	f.mu.Lock()
	defer f.mu.Unlock()
	sorted := slices.Clone(f.list)
	slices.SortStableFunc(sorted, func(a, b failure) int { return strings.Compare(a.path.String(), b.path.String()) })
	return sorted
}

func (f *failures) errs() []error {
	var errs []error
	for _, failure := range f.sorted() {
		errs = append(errs, failure.err)
	}
	return errs
}

func (f *failures) join() error { return join(f.errs()...) }

func (f *failures) addTo(result *Result, keepCredentials bool) {
	for _, failure := range f.sorted() {
		unresolved := Unresolved{Path: failure.path, Err: failure.err}
		if failure.call != nil {
			unresolved.Call, unresolved.Source = failure.call.shown(keepCredentials)
		}
		result.Unresolved = append(result.Unresolved, unresolved)
	}
}

// checkCycle returns an error if a module above has the same bytes and place, and so would make the same calls
// again, without end.
func (m *module) checkCycle() error {
	for above := m.call.caller; ; above = above.call.caller {
		if above.identity() == m.identity() {
			return m.call.fail(fmt.Errorf("%w: %s has the same configuration as %s, from which it is called", ErrCycle, m.path(), nameOf(above.path())))
		}
		if above.call == nil {
			return nil
		}
	}
}

// identity returns the same value for two modules that make the same calls.
func (m *module) identity() [2]string {
	if m.linksTo != "" { // local modules below it have this path
		return [2]string{"", filepath.ToSlash(m.currentPath)}
	}
	if m.pkg == nil || m.pkg.tree == nil { // the project's own module, or a package that was not read
		return [2]string{"", path.Clean(m.finalPath)}
	}
	return [2]string{string(m.pkg.tree.T1()), path.Clean(m.subdir)}
}

func nameOf(p addrs.Module) string {
	if p.IsRoot() {
		return "the root module"
	}
	return p.String()
}
