package installer

import (
	"cmp"
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/installerinternal/hook"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store/providerfetch"
	"github.com/cotterpin/cotter/lockfile"
)

func lockedPackages(ctx context.Context, in *Installer, projects []Project, o LockedOptions, use hook.LockedFuncs) error {
	return forEachProject(in, projects, func(in *Installer, _ int, p Project) error {
		return lockedPackagesOf(ctx, in, p, o, use)
	})
}

func lockedPackagesOf(ctx context.Context, in *Installer, project Project, o LockedOptions, use hook.LockedFuncs) (err error) {
	defer ctxerr.Keep(ctx, &err)
	if err := cmp.Or(readingOf(project, o.Scope).checkWithLock(), ctxerr.Of(ctx)); err != nil {
		return err
	}
	req := request{Project: project, InstallOptions: InstallOptions{
		Scope: o.Scope, Locked: true, DryRun: true, Offline: o.Offline, AcceptUnreachable: o.AcceptUnreachable,
	}}
	inst, err := prepare(in, req)
	if err != nil {
		return err
	}
	ctx, run, release, err := inst.begin(ctx, evidencerules.Publish)
	if err != nil {
		return err
	}
	defer func() { err = join(err, release()) }()
	var stage *providerStage
	if req.Scope.providers() {
		if stage, err = openProviderStage(run.openProject, run.pool, run.events, o.publishRule()); err != nil {
			return err
		}
	}
	var modules []*module
	if req.Scope.modules() {
		if modules, err = run.resolveLocked(ctx, stage.require()); err == nil {
			err = stage.checkLock(ctx)
		}
		if err != nil {
			return err
		}
	}
	var ofModules, ofProviders error
	var wait sync.WaitGroup
	if use.Module != nil {
		wait.Go(func() { ofModules = run.useModules(ctx, modules, use.Module) })
	}
	if use.Provider != nil && stage != nil {
		wait.Go(func() { ofProviders = stage.useProviders(ctx, o.platforms(), inst.clients.Parallel, use.Provider) })
	}
	wait.Wait()
	return join(ofModules, ofProviders)
}

func (r *installRun) useModules(ctx context.Context, modules []*module, use func(context.Context, hook.LockedModule) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cap(r.pool.Slots))
	for _, m := range modules {
		if !m.OwnsPackage() || m.Call.Unlocked {
			continue
		}
		group.Go(func() error {
			done, err := r.pool.Slot(ctx)
			if err != nil {
				return err
			}
			defer done()
			return m.Call.FailIf(use(ctx, hook.LockedModule{Entry: m.Package.Entry, Tree: placed(m).tree.Tree, Dir: m.Package.Files.Path()}))
		})
	}
	return group.Wait()
}

func (s *providerStage) useProviders(ctx context.Context, platforms []addrs.Platform, parallel int, use func(context.Context, hook.LockedProvider) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, entry := range s.lock.Providers() {
		locked, err := s.stage.OfEntry(entry)
		if err != nil {
			group.Go(func() error { return err })
			break
		}
		for _, platform := range platforms {
			group.Go(func() error {
				return use(ctx, hook.LockedProvider{Entry: entry, Platform: platform, Archive: func(ctx context.Context) (*providerfetch.Archive, error) {
					return s.stage.Archive(ctx, locked, platform)
				}})
			})
		}
	}
	return group.Wait()
}

func (r *installRun) resolveLocked(ctx context.Context, require func(*module, config.Module)) ([]*module, error) {
	defer r.keepMemos()
	defer r.lost.close()
	tree, err := r.walk(ctx, r.newResolver(unified{}, r.events), require)
	return tree.modules, err
}

func readLockedProviders(ctx context.Context, p Project) ([]lockfile.Provider, error) {
	if !p.hasStockLock() {
		p.LockFile = ""
	}
	lock, err := ReadLock(ctx, p)
	if err != nil {
		return nil, err
	}
	dialect := p.Dialect
	if dialect == DialectAuto {
		dialect = DialectTerraform // it accepts more addresses
	}
	if faults := lock.StockFaults(dialect.Parser()); faults.HasErrors() {
		return nil, &lockfile.SyntaxError{File: p.lockFile(), Diagnostics: faults}
	}
	return lock.Providers(), nil
}

// checkLock returns an error if the lock lacks a required provider. The stage may be nil.
func (s *providerStage) checkLock(ctx context.Context) error {
	if s == nil {
		return nil
	}
	required, err := s.required.pool()
	if err != nil {
		return err
	}
	return s.stage.CheckLock(ctx, required)
}
