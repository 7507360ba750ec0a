package installer

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/ctxerr"
)

// MissingLockError says that a project has no lock file, although its configuration needs entries in one. It
// wraps [fs.ErrNotExist].
type MissingLockError struct {
	File string // relative to the root module's directory, or absolute
}

func (e *MissingLockError) Error() string { return fmt.Sprintf("there is no lock file %s", e.File) }

func (e *MissingLockError) Unwrap() error { return fs.ErrNotExist }

// RequireLock returns a *[MissingLockError] if a project has no lock file but needs one: it calls a module that
// is not local, replaces a package by a directory, or requires a provider. If there are only local modules,
// Install writes no lock. Without configuration in the directory, it is not known what was installed there, so
// a lock is needed. Other errors say why the configuration could not be read. No server is contacted.
func (in *Installer) RequireLock(ctx context.Context, p Project) (err error) {
	defer ctxerr.Keep(ctx, &err)
	req := readingOf(p, ScopeAll)
	if err := req.checkWithLock(); err != nil {
		return err
	}
	r, err := openToRead(ctx, in, req)
	if err != nil {
		return err
	}
	defer func() { err = join(err, r.close()) }()
	return r.requireLock(ctx)
}

func (p *reading) requireLock(ctx context.Context) error {
	if p.lockSrc != nil {
		return nil
	}
	required := newRequirements(p.req.Project)
	var calls atomic.Bool // that need an entry
	modules, failures, err := p.walk(ctx, func(_ context.Context, c *call) (*module, error) {
		if c.isDirectory() || !c.from.IsLocal() {
			calls.Store(true)
			return nil, errLeftOut
		}
		return localModule(c, p.dirs)
	}, required.add)
	if err != nil {
		return err
	}
	needed := calls.Load() || len(modules) == 0 && p.isWithoutConfiguration()
	if needed && p.req.Scope.modules() {
		return &MissingLockError{p.req.lockFile()}
	}
	if err := failures.join(); err != nil || !p.req.Scope.providers() {
		return err
	}
	// The lock that has the providers may exist without the one of the modules.
	lock, err := p.providerLock()
	if err != nil || lock.src != nil {
		return err
	}
	pooled, err := required.pool()
	if err != nil {
		return err
	}
	if needed || len(pooled) > 0 {
		return &MissingLockError{lock.req.lockFile()}
	}
	return nil
}

// isWithoutConfiguration reports whether the root module has no files that can have calls. What a Session has
// installed for a program with configuration of its own is known only from the lock.
func (p *openProject) isWithoutConfiguration() bool {
	empty, err := p.reader().Empty(configs.Dir{Path: p.req.dir(), Tests: cmp.Or(p.req.Inputs.TestDir, configs.DefaultTests)})
	return empty && err == nil
}

// walkOrLock walks the modules that are installed or locked. fromLock reports whether some, or all, are known
// only from the lock.
func (p *reading) walkOrLock(ctx context.Context, require func(*module, config.Module)) (modules []*module, failed *failures, fromLock bool, err error) {
	modules, failed, err = p.walk(ctx, p.recordedOrLocked, require)
	if err == nil && len(modules) == 0 && len(failed.errs()) == 0 && p.isWithoutConfiguration() {
		if p.lockSrc == nil {
			return nil, nil, false, &MissingLockError{p.req.lockFile()}
		}
		modules, failed, err = p.walkLock(ctx)
		return modules, failed, true, err
	}
	return modules, failed, slices.ContainsFunc(modules, (*module).isLocked), err
}

// walkLock walks the modules that the lock has.
func (p *reading) walkLock(ctx context.Context) ([]*module, *failures, error) {
	return p.walkFrom(ctx, &module{finalPath: "."}, p.recordedOrLocked, nil)
}
