package installer

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/ctxerr"
	"github.com/cotterpin/cotter/internal/evidencerules"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/lockfile"
)

// LockedFuncs are called by [Installer.LockedPackages] with each package, unless they are nil.
type LockedFuncs struct {
	// Module gets each entry of a module, and Provider each entry and platform of a provider.
	Module   func(context.Context, LockedModule) error
	Provider func(context.Context, LockedProvider) error
}

// LockedModule is the package of a module that was compared with its entry in a lock.
type LockedModule struct {
	Entry lockfile.Module
	Tree  *hashing.Tree // the files of the package with their sums

	dir string
}

// Open opens the directory of the package until LockedPackages returns. It has the files of Tree, and possibly
// others that the module has written since. It must only be read, and the caller must close it.
func (p LockedModule) Open() (*os.Root, error) { return pathsafe.OpenRoot(p.dir) }

// LockedProvider is a provider package for one platform, from an entry of a lock.
type LockedProvider struct {
	Entry    lockfile.Provider
	Platform addrs.Platform

	archive func(context.Context) (*providers.Archive, error)
}

var errNotLocked = errors.New("the package is not from a lock")

// Archive returns the archive from the provider's source, authenticated as in an installation, until
// LockedPackages returns. If the lock has no zh hashes and the content is in the cache, it is packed from
// there.
func (p LockedProvider) Archive(ctx context.Context) (*ProviderArchive, error) {
	if p.archive == nil {
		return nil, errNotLocked
	}
	got, err := p.archive(ctx)
	if err != nil {
		return nil, err
	}
	return &ProviderArchive{Hashes: got.Hashes, Size: got.Size, archive: got}, nil
}

// ProviderArchive is the archive of a provider's package, compared with the lock. It must be closed.
type ProviderArchive struct {
	// Hashes are the h1 of the content, and the zh of the archive if the lock has it. Without a zh, the archive
	// was packed on this machine and depends only on the content.
	Hashes []hashing.Hash
	Size   int64 // in bytes

	archive *providers.Archive
}

// WriteTo writes the archive.
func (a *ProviderArchive) WriteTo(w io.Writer) (int64, error) {
	if a == nil || a.archive == nil {
		return 0, errNotLocked
	}
	return a.archive.WriteTo(w)
}

// Close removes the archive.
func (a *ProviderArchive) Close() error {
	if a == nil || a.archive == nil {
		return errNotLocked
	}
	return a.archive.Close()
}

// LockedPackages calls use with each package in the locks of several projects, once for each entry, for
// programs that copy or inspect packages. The locks must be complete, and are confirmed as in an installation
// with Locked. Packages of modules are at hand or fetched into the cache. A provider without a usable hash is
// an error. The projects are not changed.
//
// The functions are called from several goroutines, for at most [Options.Parallel] packages at once. Many entries
// may have the same package; [hashing.Tree.T1] identifies it. After an error of a function, no further packages
// of that kind and project are begun. The returned error joins a *[ProjectError] for each project that failed.
func (in *Installer) LockedPackages(ctx context.Context, projects []Project, o LockedOptions, use LockedFuncs) error {
	return forEachProject(in, projects, func(in *Installer, _ int, p Project) error {
		return lockedPackagesOf(ctx, in, p, o, use)
	})
}

func lockedPackagesOf(ctx context.Context, in *Installer, project Project, o LockedOptions, use LockedFuncs) (err error) {
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

func (r *installRun) useModules(ctx context.Context, modules []*module, use func(context.Context, LockedModule) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(cap(r.pool.Slots))
	for _, m := range modules {
		if !m.OwnsPackage() {
			continue
		}
		group.Go(func() error {
			done, err := r.pool.Slot(ctx)
			if err != nil {
				return err
			}
			defer done()
			return m.Call.FailIf(use(ctx, LockedModule{Entry: m.Package.Entry, Tree: placed(m).tree.Tree, dir: m.Package.Files.Path()}))
		})
	}
	return group.Wait()
}

func (s *providerStage) useProviders(ctx context.Context, platforms []addrs.Platform, parallel int, use func(context.Context, LockedProvider) error) error {
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
				return use(ctx, LockedProvider{Entry: entry, Platform: platform, archive: func(ctx context.Context) (*providers.Archive, error) {
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

// ReadLockedProviders returns the providers in the lock of a project, or of stock tools if that has only
// modules. The error is as for [ReadLock].
func ReadLockedProviders(ctx context.Context, p Project) ([]lockfile.Provider, error) {
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
