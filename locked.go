package cotter

import (
	"context"
	"io"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/lockfile"
)

// LockedPackage is a package that was compared with its entry in a lock.
type LockedPackage struct {
	// Project is the root module's directory, as passed to LockedPackages.
	Project string
	// Entry is the entry of the project's lock.
	Entry lockfile.Module
	// Tree has the files of the package with their sums.
	Tree *hashing.Tree

	dir string
}

// Open opens the directory of the package. It must only be read, and the caller must close
// it. It contains the files of Tree, and possibly others that the module has written since.
// It can be opened until LockedPackages returns.
func (p LockedPackage) Open() (*os.Root, error) { return pathsafe.OpenRoot(p.dir) }

// LockedPackages calls use with each package in the locks of several root modules, once for
// each entry of each lock. It is for programs that copy packages somewhere else, or inspect
// their content. It ignores the fields of the request that are about changes.
//
// The locks must be complete. If [Request.Providers] is set, they must also have the
// providers that the modules require; [Installer.LockedProviders] returns the provider
// packages. As in an installation with [Request].Locked, entries are confirmed by their
// origins or by [Installer].Stores. Packages are taken from the project or from the cache,
// or fetched into the cache, and are compared with the hashes of the lock. The projects are
// not changed.
//
// use is called from several goroutines, for at most [Installer].Parallel packages at once,
// as soon as all packages of a project are known. Entries of several calls or projects
// often have the same package; [hashing.Tree.T1] identifies it. An error of use stops the
// work on its project, which fails with a *[ModuleError] that wraps it. The other projects
// continue. The returned error joins a *[ProjectError] for each project that failed.
//
// onEvent is as for InstallAll.
func (in *Installer) LockedPackages(ctx context.Context, dirs []string, req Request, onEvent func(dir string, event Event), use func(context.Context, LockedPackage) error) error {
	req.Locked, req.DryRun, req.LockOnly, req.Update = true, true, false, Update{}
	return forEachProject(in, dirs, req, onEvent, func(in *Installer, _ int, req Request) error {
		return lockedPackagesOf(ctx, in, req, use)
	})
}

// lockedPackagesOf is LockedPackages for one project.
func lockedPackagesOf(ctx context.Context, in *Installer, req Request, use func(context.Context, LockedPackage) error) (err error) {
	req.Vendor = "" // vendored packages confirm no entries
	inst, err := prepare(in, req)
	if err != nil {
		return err
	}
	p, err := inst.openProject(ctx)
	if err != nil {
		return err
	}
	defer func() { err = join(err, p.close()) }()
	session, done, err := inst.clients.session(inst.user)
	if err != nil {
		return err
	}
	defer done()
	var stage *providerStage
	if req.Providers != nil {
		if stage, err = openProviderStage(p, session, inst.events, req.Providers.publishRule()); err != nil {
			return err
		}
	}
	modules, err := inst.newRun(p, session, evidence.Publish).resolveLocked(ctx, stage.require())
	if err == nil {
		err = stage.checkLock(ctx)
	}
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(inst.clients.parallel)
	for _, m := range modules {
		if !m.ownsPackage() {
			continue
		}
		group.Go(func() error {
			done, err := session.Slot(ctx)
			if err != nil {
				return err
			}
			defer done()
			return m.call.failIf(use(ctx, LockedPackage{Project: req.Dir, Entry: m.pkg.entry, Tree: m.pkg.tree.Tree, dir: m.pkg.currentPath}))
		})
	}
	return group.Wait()
}

// resolveLocked walks the tree with the lock. The packages are only read.
func (r *installRun) resolveLocked(ctx context.Context, require func(addrs.Module, ModuleConfig)) ([]*module, error) {
	defer r.keepMemos()
	defer r.lost.close()
	tree, err := r.walk(ctx, r.newResolver(unified{}, r.events), require)
	return tree.modules, err
}

// LockedProvider is a provider package for one platform, from an entry of a lock.
type LockedProvider struct {
	// Project is the root module's directory, as passed to LockedProviders.
	Project string
	// Entry is the entry of the project's lock.
	Entry    lockfile.Provider
	Platform addrs.Platform

	archive func(context.Context) (*providers.Archive, error)
}

// ProviderArchive is the archive of a provider's package, after it was compared with the
// lock. It must be closed.
type ProviderArchive struct {
	// Hashes are the sorted hashes of the archive: the h1 of its content, and its zh if the
	// lock has that zh. Without a zh, the archive was packed on this machine and depends
	// only on the content.
	Hashes []hashing.Hash
	// Size is the size in bytes.
	Size int64

	io.WriterTo
	io.Closer
}

// Archive returns the archive from the provider's source, authenticated as in an
// installation. If the lock has no zh hashes and the content is in the cache, the archive
// is packed from the cache.
func (p LockedProvider) Archive(ctx context.Context) (*ProviderArchive, error) {
	got, err := p.archive(ctx)
	if err != nil {
		return nil, err
	}
	return &ProviderArchive{Hashes: got.Hashes, Size: got.Size, WriterTo: got, Closer: got}, nil
}

// LockedProviders calls use for each provider in the locks of several root modules, and for
// each platform of req.Providers. If no platforms are named, it uses this machine's own. It
// is for programs that copy packages somewhere else. It reads only the locks, not the
// configuration; the policies about providers apply. A provider with no usable hash in the
// lock is an error.
//
// use is called from several goroutines, for at most [Installer].Parallel packages at once.
// An error stops the work on its project. The other projects continue. The returned error
// joins a *[ProjectError] for each project that failed. onEvent is as for InstallAll.
func (in *Installer) LockedProviders(ctx context.Context, dirs []string, req Request, onEvent func(dir string, event Event), use func(context.Context, LockedProvider) error) error {
	req.Locked, req.DryRun, req.LockOnly, req.Update = true, true, false, Update{}
	if req.Providers == nil {
		req.Providers = &Providers{}
	}
	return forEachProject(in, dirs, req, onEvent, func(in *Installer, _ int, req Request) error {
		return lockedProvidersOf(ctx, in, req, use)
	})
}

// lockedProvidersOf is LockedProviders for one project.
func lockedProvidersOf(ctx context.Context, in *Installer, req Request, use func(context.Context, LockedProvider) error) (err error) {
	q, err := openToAsk(ctx, in, req)
	if err != nil {
		return err
	}
	defer func() { err = join(err, q.close()) }()
	stage, err := openProviderStage(q.openProject, q.session, q.events, req.Providers.publishRule())
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(q.clients.parallel)
	for _, entry := range stage.lock.Providers() {
		locked, err := stage.stage.OfEntry(entry)
		if err != nil {
			group.Go(func() error { return err })
			break
		}
		for _, platform := range req.Providers.platforms() {
			group.Go(func() error {
				return use(ctx, LockedProvider{Project: req.Dir, Entry: entry, Platform: platform, archive: func(ctx context.Context) (*providers.Archive, error) {
					return stage.stage.Archive(ctx, locked, platform)
				}})
			})
		}
	}
	return group.Wait()
}

// ReadLockedProviders returns the providers in the lock of a request's project. They are in
// the lock file of stock tools. The error is as for [ReadLock].
func ReadLockedProviders(req Request) ([]lockfile.Provider, error) {
	if !req.hasStockLock() {
		req.LockFile = ""
	}
	lock, err := ReadLock(req)
	if err != nil {
		return nil, err
	}
	dialect := req.Dialect
	if dialect == DialectAuto {
		dialect = DialectTerraform // it accepts more addresses
	}
	if faults := lock.StockFaults(dialect.parser()); faults.HasErrors() {
		return nil, &LockFileError{File: req.lockFile(), Diagnostics: faults}
	}
	return lock.Providers(), nil
}

// platforms returns the named platforms, or this machine's own if none is named.
func (p *Providers) platforms() []addrs.Platform {
	if len(p.Platforms) == 0 {
		return []addrs.Platform{addrs.CurrentPlatform()}
	}
	return p.Platforms
}

// checkLock returns an error if the lock lacks a provider that the modules require. The
// stage may be nil.
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
