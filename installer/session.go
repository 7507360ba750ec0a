package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/internal/project/treewalk"
)

// Session is an installation for a program that walks the module tree by itself: it asks [Session.Module] for
// one call at a time, reads the module's calls with its own parser, and goes on with these. [Session.Commit]
// then changes the project. A Session must be closed. It is safe for concurrent use. [Installer.Begin] makes one;
// the methods of a nil or zero Session fail.
type Session struct {
	// ctx is that of all work.
	ctx      context.Context
	cancel   context.CancelFunc
	run      *installRun
	resolver *resolver
	ahead    *prefetcher // gets what is expected
	release  func() error

	work sync.WaitGroup
	mu   sync.Mutex
	// ended says that no more calls are accepted.
	ended bool
	// asked has the calls by the paths of their modules, and failed the errors about calls.
	asked  map[string]*askedCall
	failed failures
	// disputed are the calls that were asked for with several sources. They are not committed.
	disputed failures
	// expected says that the calls of the root module were expected.
	expected bool
	closed   func() error
}

// askedCall is a call whose module was asked for. module and err are set when done is closed.
type askedCall struct {
	block  config.Call
	call   *call
	done   chan struct{}
	module *module
	err    error
}

func (a *askedCall) isDone() bool {
	select {
	case <-a.done:
		return a.err == nil
	default:
		return false
	}
}

// CommitOptions say what [Session.Commit] does.
type CommitOptions struct {
	// Complete says that the program has asked for all modules. Then what the lock and the project have for
	// other calls is removed.
	Complete bool
}

// Begin begins a Session in a project, which no other process changes until the session is closed. All work
// ends with ctx. Options that need the whole tree are an *[InvalidOptionsError]: Scope, Unify and
// AllowConfigErrors.
func (in *Installer) Begin(ctx context.Context, p Project, o InstallOptions) (_ *Session, err error) {
	defer ctxerr.Keep(ctx, &err)
	req := request{Project: p, InstallOptions: o}
	if err := req.checkForSession(); err != nil {
		return nil, err
	}
	inst, err := prepare(in, req)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ctx, run, release, err := inst.begin(ctx, req.run())
	if err != nil {
		cancel()
		return nil, err
	}
	s := &Session{ctx: ctx, cancel: cancel, run: run, resolver: run.newResolver(nil, run.events), release: release, asked: make(map[string]*askedCall)}
	s.ahead = newPrefetcher(run.newResolver(nil, run.events.ofFetches()))
	s.ahead.stager.readOnly = true
	s.closed = sync.OnceValue(s.close)
	return s, nil
}

// Expect says which calls of a module the program is going to ask for, so that they are fetched together. It
// does not wait, and binds neither side. The caller's own module must have been found.
func (s *Session) Expect(caller addrs.Module, calls ...config.Call) {
	if s.isZero() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	above, ok := s.caller(caller)
	if s.ended || !ok {
		return
	}
	var parsed []treewalk.ParsedCall
	for _, block := range calls {
		if treewalk.CheckNames(block) == nil {
			c, err := s.run.ParseCall(above, block)
			parsed = append(parsed, treewalk.ParsedCall{Call: c, Err: err})
		}
	}
	if caller.IsRoot() && !s.expected {
		s.expected = true
		s.ahead.start(s.ctx, parsed)
	}
	for _, c := range parsed {
		if _, asked := s.asked[c.Key()]; c.Err == nil && !asked && !c.From.IsLocal() {
			s.work.Go(func() { s.ahead.expect(s.ctx, c.Call) })
		}
	}
}

// Module selects, fetches and verifies the module of a call, as Install does. caller is the path of the module
// that has the call, which must have been found unless it is the root module. A local source is a directory in
// the caller's package.
//
// The same call again, as of several instances, returns the same module. An instance with another source or version is
// an [ErrSameKey] that names both: then the call, and what is below it, is left out of the commit. If ctx ends, Module
// returns, but the work goes on until the session is closed. The error is a *[ModuleError], or a *[LockedError] if the
// lock would have to change, but must not.
func (s *Session) Module(ctx context.Context, caller addrs.Module, c config.Call) (Module, error) {
	if s.isZero() {
		return Module{}, errNotBegun
	}
	asked, err := s.ask(caller, c)
	if err != nil {
		return Module{}, err
	}
	select {
	case <-asked.done:
	case <-ctx.Done():
		return Module{}, ctxerr.Of(ctx)
	}
	if refused, ok := errors.AsType[*refusal](asked.err); ok {
		return Module{}, s.run.refused(ctx, []*refusal{refused})
	} else if asked.err != nil {
		return Module{}, asked.err
	}
	found := resultOf(asked.module, s.run.req.KeepCredentials)
	found.Files = sessionFiles{s, asked.module}
	if c.Allowed != nil && !found.Version.IsZero() && !c.Allowed(found.Version) {
		err := asked.call.FailVersion(fmt.Errorf("version %s was selected before, and this program does not allow it now", found.Version))
		s.failed.AddCall(asked.call, err)
		return Module{}, err
	}
	return found, nil
}

// ask returns the call that was asked for before, or begins to find its module.
func (s *Session) ask(caller addrs.Module, block config.Call) (*askedCall, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	called := block.PathIn(caller)
	fail := func(err error) error {
		c := &call{Call: block, Path: called}
		err = c.Fail(err)
		s.failed.AddCall(c, err)
		return err
	}
	if s.ended {
		return nil, errEnded
	}
	if err := treewalk.CheckNames(block); err != nil {
		return nil, fail(err)
	}
	above, ok := s.caller(caller)
	if !ok {
		return nil, fail(fmt.Errorf("the session has not found the module that has this call: %s", caller))
	}
	if earlier, ok := s.asked[called.String()]; ok {
		switch {
		case isSameCall(earlier.block, block):
			return earlier, nil
		case !slices.Equal(earlier.block.Prefix, block.Prefix): // they are no instances of one call
			return nil, fail(treewalk.SameKey(earlier.block))
		}
		c := &call{Call: block, Path: called}
		err := c.Fail(errOtherSource(earlier.block, block))
		s.disputed.AddCall(c, err)
		return nil, err
	}
	if len(called) > treewalk.MaxDepth || len(s.asked) == treewalk.MaxModules {
		return nil, fail(fmt.Errorf("%w: more than %d calls, or more than %d above this one", ErrTooManyModules, treewalk.MaxModules, treewalk.MaxDepth))
	}
	asked := &askedCall{block: block, done: make(chan struct{})}
	s.asked[called.String()] = asked
	if asked.call, asked.err = s.run.ParseCall(above, block); asked.err != nil {
		close(asked.done)
		return asked, nil
	}
	s.work.Go(func() {
		defer close(asked.done)
		asked.module, asked.err = s.find(asked.call)
	})
	return asked, nil
}

func (s *Session) caller(path addrs.Module) (*module, bool) {
	if path.IsRoot() {
		return s.run.RootModule(), true
	}
	asked, ok := s.asked[path.String()]
	if !ok || !asked.isDone() {
		return nil, false
	}
	return asked.module, true
}

func (s *Session) find(c *call) (*module, error) {
	m, err := s.findInside(c)
	if m == nil && err == nil {
		m, err = s.resolver.module(s.ctx, c)
	}
	if err == nil {
		err = m.CheckCycle()
	}
	if err != nil {
		return nil, err
	}
	s.resolver.placed(m)
	return m, nil
}

// findInside finds the module of a call whose path points into the package of another call that was asked for
// before; nil if there is no such call.
func (s *Session) findInside(c *call) (*module, error) {
	packages := s.run.dirs.PackageDir("")
	key, subdir, ok := c.Inside(packages)
	if !ok {
		return nil, nil
	}
	s.mu.Lock()
	owner, ok := s.asked[key]
	s.mu.Unlock()
	if !ok {
		return nil, nil
	}
	if _, _, waits := owner.call.Inside(packages); waits {
		return nil, nil // possibly for this call
	}
	<-owner.done
	if owner.err != nil || !owner.module.HoldsOthers() {
		return nil, nil
	}
	return owner.module.Inside(c, subdir)
}

func isSameCall(a, b config.Call) bool {
	sameVersion := a.Version == b.Version || a.Version != nil && b.Version != nil && *a.Version == *b.Version
	return a.Source == b.Source && sameVersion && a.Constraints == b.Constraints && a.Unlocked == b.Unlocked && slices.Equal(a.Prefix, b.Prefix)
}

// errOtherSource is the error about a call that was asked for with another source or version before.
func errOtherSource(first, now config.Call) error {
	text := func(c config.Call) string {
		source := fmt.Sprintf("source %q", addrs.Redact(c.Source))
		if version := cmp.Or(c.Version, &c.Constraints); *version != "" {
			source += fmt.Sprintf(", version %q", *version)
		}
		return source
	}
	return fmt.Errorf("%w: it was asked for with the %s, and now with the %s; all instances of a call have one module", ErrSameKey, text(first), text(now))
}

// isDisputed reports whether a module is that of a disputed call, in its package or below it.
func (s *Session) isDisputed(c *call, m *module) bool {
	return s.disputed.HasAtOrAbove(c.Path) || m != nil && m.Package != nil && s.disputed.HasAtOrAbove(pathOf(m.Package.Key))
}

// Commit puts the modules in their places, then writes the lock, then modules.json. If Module has returned an
// error, Commit returns it too and changes nothing, unless it is about instances with several sources. Calls with that
// error are in [Result.Unresolved], and what the project has for them stays. After Commit, the session can only be closed.
func (s *Session) Commit(ctx context.Context, o CommitOptions) (_ *Result, err error) {
	defer ctxerr.Keep(ctx, &err)
	if s.isZero() {
		return nil, errNotBegun
	}
	if !s.end() {
		return nil, errEnded
	}
	defer context.AfterFunc(ctx, s.cancel)()
	s.ahead.stop()
	s.work.Wait()
	var modules []*module
	var calls []*call
	for _, key := range slices.Sorted(maps.Keys(s.asked)) {
		asked := s.asked[key]
		if s.isDisputed(asked.call, asked.module) {
			continue
		}
		calls = append(calls, asked.call)
		if asked.err != nil {
			s.failed.AddCall(asked.call, asked.err)
		} else {
			modules = append(modules, asked.module)
		}
	}
	tree, err := s.run.conclude(s.ctx, s.resolver, modules, calls, &s.failed)
	tree.isPart = !o.Complete
	for _, failure := range s.disputed.Sorted() { // what the project has for them stays
		tree.failures.Add(failure.Path, failure.Call, failure.Err)
	}
	var result *Result
	if err == nil {
		result, err = s.run.change(s.ctx, tree, s.resolver, nil)
	}
	if err != nil {
		s.run.mismatches.warn(s.run.events, wereLeftAlone, nil)
		return s.run.found(tree.modules, tree.failures), err
	}
	addUnresolved(tree.failures, result, s.run.req.KeepCredentials)
	return result, nil
}

// end makes the session accept no more calls. It reports whether it did so far.
func (s *Session) end() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.ended
	s.ended = true
	return !before
}

// Close ends the session and its work. Without an earlier Commit, nothing in the project has changed.
func (s *Session) Close() error {
	if s.isZero() {
		return errNotBegun
	}
	return s.closed()
}

func (s *Session) isZero() bool { return s == nil || s.run == nil }

func (s *Session) close() error {
	s.end()
	s.cancel()
	s.ahead.stop()
	s.work.Wait()
	s.run.lost.close()
	s.run.keepMemos()
	return s.release()
}

// sessionFiles are the files of a module, whose links may lead to others of its package.
type sessionFiles struct {
	session *Session
	module  *module
}

func (f sessionFiles) Open(name string) (fs.File, error) {
	f.session.mu.Lock()
	defer f.session.mu.Unlock()
	if f.session.ended {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errEnded}
	}
	if !pathsafe.IsName(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if pkg := f.module.Package; pkg != nil {
		return pkg.Files.Open(path.Join(f.module.Subdir, name))
	}
	return pathsafe.DirFS(f.module.CurrentPath).Open(name)
}

var (
	errEnded    = errors.New("the session has ended")
	errNotBegun = errors.New("the session was not begun: Installer.Begin makes one")
)

// expect gets what the module of a call needs. Its result is what the pool remembers.
func (p *prefetcher) expect(ctx context.Context, c *call) {
	entry, locked := p.project.entry(c)
	if !locked || c.From.Mismatch(entry) != "" || p.project.req.Update.has(c.Key()) {
		_, _ = p.module(ctx, c)
		return
	}
	p.prefetch(ctx, c, entry)
}
