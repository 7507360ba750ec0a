package installer

import (
	"context"
	"sync/atomic"

	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/internal/project/treewalk"
)

func requireLock(ctx context.Context, in *Installer, p Project) (err error) {
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
	if p.LockSrc != nil {
		return nil
	}
	required := newRequirements(p.req.Project)
	var calls atomic.Bool // that need an entry
	modules, failures, err := p.walk(ctx, func(_ context.Context, c *call) (*module, error) {
		if c.IsDirectory() || !c.From.IsLocal() {
			if c.IsDirectory() || !c.Unlocked {
				calls.Store(true)
			}
			return nil, treewalk.ErrLeftOut
		}
		return p.LocalModule(c)
	}, required.add)
	if err != nil {
		return err
	}
	needed := calls.Load() || len(modules) == 0 && p.IsWithoutConfiguration(p.testDir())
	if needed && p.req.Scope.modules() {
		return &MissingLockError{p.req.lockFile()}
	}
	if err := joinFailures(failures); err != nil || !p.req.Scope.providers() {
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
