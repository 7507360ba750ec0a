package treewalk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/lockfile"
)

// Walker walks a module tree. It goes on below a module as soon as that is in its place, so no module waits for
// another one that is not above it.
type Walker struct {
	Project *Project
	Config  config.Reader
	// Root is where the walk begins; nil means the root module as the configuration has it.
	Root *Module
	// Find finds the module of a call, and may fetch it. The walk reports its error unless it is [ErrLeftOut].
	Find func(context.Context, *Call) (*Module, error)
	// The other functions may be nil. Placed gets each module that is in its place.
	Placed func(*Module)
	// Begin gets the calls of the root module before they are placed.
	Begin func(context.Context, []ParsedCall)
	// Require gets the configuration of each module, and makes the walk read provider requirements.
	Require func(*Module, config.Module)
	// Warn gets diagnostics that are not errors.
	Warn func(addrs.Module, *hcl.Diagnostic)
	// Parallel is the number of directories that are read at once.
	Parallel int
}

// ErrLeftOut is returned by [Walker].Find for a call that is not followed and is no failure.
var ErrLeftOut = errors.New("the call is left out")

// Walk returns all modules below the root module and all calls, sorted by path, and the failures. If a call
// fails, the others continue. If ctx ends, some calls may not have been seen.
func (w *Walker) Walk(ctx context.Context) (modules []*Module, calls []*Call, failed *Failures) {
	t := &traversal{Walker: w, reads: make(chan struct{}, w.Parallel), seen: make(map[string]*Call), failures: &Failures{}, locked: sync.OnceValue(w.Project.lockedEntries)}
	root := w.Root
	if root == nil {
		root = w.Project.RootModule()
	}
	t.wait.Go(func() { t.below(ctx, root, 0) })
	t.wait.Wait()
	for len(t.inside) > 0 {
		t.belowInside(ctx)
	}
	if t.tooDeep != nil {
		t.failures.AddCall(t.tooDeep, t.tooDeep.Fail(fmt.Errorf("%w: more than %d calls above it", config.ErrTooManyModules, MaxDepth)))
	}
	if len(t.seen) > MaxModules {
		t.failures.Add(nil, nil, fmt.Errorf("%w: more than %d module calls", config.ErrTooManyModules, MaxModules))
	}
	slices.SortFunc(t.modules, func(a, b *Module) int { return strings.Compare(a.Key(), b.Key()) })
	calls = slices.SortedFunc(maps.Values(t.seen), func(a, b *Call) int { return strings.Compare(a.Key(), b.Key()) })
	return t.modules, calls, t.failures
}

type traversal struct {
	*Walker
	wait     sync.WaitGroup
	reads    chan struct{}
	failures *Failures
	locked   func() []lockfile.Module // the entries of the lock, read once

	mu      sync.Mutex
	modules []*Module
	// seen has the calls so far by key, and tooDeep is the first by key of those that have too many calls above
	// them.
	seen    map[string]*Call
	tooDeep *Call
	// inside are the calls that point into the packages of other calls and are not placed yet.
	inside []insideCall
}

// insideCall is a call with a local path into the package of another call. Some projects write the version of a
// package once: one call installs it, and others have paths such as "./.terraform/modules/KEY/network" that
// point into it. They are placed last, because the package must be placed first.
type insideCall struct {
	*Call
	depth int
	// key is that of the call whose package it is, and subdir is the directory in the package.
	key, subdir string
}

// ParsedCall is a call, possibly with the error of parsing it.
type ParsedCall struct {
	*Call
	Err error
}

// below reads a module, and places the modules that it calls. Each call has its own goroutine, because most
// wait for a package that another goroutine fetches. The pool limits the parallel work.
func (t *traversal) below(ctx context.Context, m *Module, depth int) {
	calls := t.admit(t.calls(ctx, m), depth)
	if depth == 0 && t.Begin != nil {
		t.Begin(ctx, calls)
	}
	for _, c := range calls {
		if c.Err != nil {
			t.failures.AddCall(c.Call, c.Err)
			continue
		}
		if t.postpone(c.Call, depth) {
			continue
		}
		t.wait.Go(func() { t.follow(ctx, c.Call, depth, t.Find) })
	}
}

func (t *traversal) follow(ctx context.Context, c *Call, depth int, find func(context.Context, *Call) (*Module, error)) {
	m, err := find(ctx, c)
	if err == nil {
		err = m.CheckCycle()
	}
	switch {
	case err == nil:
		t.mu.Lock()
		t.modules = append(t.modules, m)
		t.mu.Unlock()
		if t.Placed != nil {
			t.Placed(m)
		}
		t.below(ctx, m, depth+1)
	case !errors.Is(err, ErrLeftOut):
		t.failures.AddCall(c, err)
	}
}

// postpone reports whether the path of a call points into the package of another call, and keeps the call for
// belowInside.
func (t *traversal) postpone(c *Call, depth int) bool {
	key, subdir, ok := c.Inside(t.Project.Dirs.PackageDir(""))
	if !ok {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inside = append(t.inside, insideCall{c, depth, key, subdir})
	return true
}

// Inside returns the key of the call into whose package the path of a call points, and the directory in it.
// packages is the directory of installed packages, as modules.json would name it.
func (c *Call) Inside(packages string) (key, subdir string, ok bool) {
	source, ok := c.From.Address.(addrs.ModuleSourceLocal)
	if !ok || !c.IsOwn() || c.IsDirectory() || c.Caller.LinksTo != "" {
		return "", "", false
	}
	rest, ok := strings.CutPrefix(path.Join(c.Caller.FinalPath, string(source)), packages+"/")
	if !ok {
		return "", "", false
	}
	key, subdir, _ = strings.Cut(rest, "/")
	return key, subdir, true
}

// HoldsOthers reports whether the paths of other calls may point to directories below the module's.
func (m *Module) HoldsOthers() bool { return (m.OwnsPackage() || m.LinksTo != "") && !m.IsLocked() }

func (m *Module) Inside(c *Call, subdir string) (*Module, error) {
	if m.LinksTo != "" {
		return m.linked(c, subdir)
	}
	return ModuleIn(c, m.Package, subdir)
}

// belowInside places the postponed calls in packages that have been placed. Paths to anything else are like
// those to the project's own modules.
func (t *traversal) belowInside(ctx context.Context) {
	owners := make(map[string]*Module)
	for _, m := range t.modules {
		if m.HoldsOthers() {
			owners[m.Key()] = m
		}
	}
	calls, seen := t.inside, maps.Clone(t.seen)
	t.inside = nil
	for _, c := range calls {
		find := t.Find
		if owner, ok := owners[c.key]; ok {
			find = func(context.Context, *Call) (*Module, error) { return owner.Inside(c.Call, c.subdir) }
		} else if called, ok := seen[c.key]; ok && !called.From.IsLocal() {
			continue // the failure of that call is reported
		}
		t.wait.Go(func() { t.follow(ctx, c.Call, c.depth, find) })
	}
	t.wait.Wait()
}

// calls reads the configuration of a module. If not all of it can be read, that is a failure, and the calls are
// those that could be read.
func (t *traversal) calls(ctx context.Context, m *Module) []ParsedCall {
	t.reads <- struct{}{}
	defer func() { <-t.reads }()
	if ctx.Err() != nil {
		return nil
	}
	if m.IsLocked() {
		return slices.DeleteFunc(t.parse(m, t.lockedCalls(m.Path())), func(c ParsedCall) bool { return t.isSeen(c.Key()) })
	}
	dir := config.Dir{Path: m.Path(), Dir: m.CurrentPath, Display: m.FinalPath, Terraform: t.Project.ReadsAsTerraform(), Providers: t.Require != nil}
	if m.Package != nil {
		dir.Files, dir.Subdir = m.Package.Files, m.Subdir
		defer m.Package.Files.Hold()()
	}
	found, diags := dropUnnamable(t.Config.ReadModule(ctx, dir))
	if diags.HasErrors() {
		t.failures.Add(m.Path(), m.Call, &config.Error{Path: m.Path(), Diagnostics: diags})
	}
	for _, diag := range diags {
		if diag.Severity != hcl.DiagError && t.Warn != nil {
			t.Warn(m.Path(), diag)
		}
	}
	if t.Require != nil {
		t.Require(m, found)
	}
	return t.parse(m, found.Calls)
}

func (t *traversal) parse(m *Module, blocks []config.Call) []ParsedCall {
	var calls []ParsedCall
	for _, block := range blocks {
		c, err := t.Project.ParseCall(m, block)
		calls = append(calls, ParsedCall{c, err})
	}
	return calls
}

// admit returns the calls of a module that are to be placed: none beyond the limits of the tree, and none whose
// key is in use. A module that a test runs may have the key of another one. Tests belong to the root module,
// whose calls come first.
func (t *traversal) admit(calls []ParsedCall, depth int) []ParsedCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	if depth == MaxDepth && len(calls) > 0 {
		if first := calls[0].Call; t.tooDeep == nil || first.Key() < t.tooDeep.Key() {
			t.tooDeep = first
		}
		return nil
	}
	return slices.DeleteFunc(calls, func(c ParsedCall) bool {
		if len(t.seen) > MaxModules {
			return true
		}
		first, found := t.seen[c.Key()]
		if found {
			t.failures.AddCall(c.Call, c.Fail(SameKey(first.Call)))
			return true
		}
		t.seen[c.Key()] = c.Call
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

// SameKey returns an error about a call whose key is that of an earlier one.
func SameKey(first config.Call) error {
	if first.Range.Filename == "" {
		return fmt.Errorf("%w: the one with the source %q would be installed there too; rename one of them", config.ErrSameKey, addrs.Redact(first.Source))
	}
	return fmt.Errorf("%w: the one at %s:%d would be installed there too; rename one of them", config.ErrSameKey, first.Range.Filename, first.Range.Start.Line)
}

// The limits of a module tree. Real trees have a few hundred calls and are less than ten levels deep. A tree in
// which packages call each other in a circle has no end.
const (
	MaxDepth   = 100
	MaxModules = 20_000
)
