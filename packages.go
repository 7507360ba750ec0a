package cotter

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/opendir"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/lockfile"
)

// LockedPackage is a package that an entry of a lock names. It is what the entry says.
type LockedPackage struct {
	// Project is the root module's directory, as LockedPackages got it.
	Project string
	// Entry is the entry of the project's lock.
	Entry lockfile.Module
	// Tree has the files of the package with their sums.
	Tree *hashing.Tree

	dir string
}

// Open opens the directory of the package, for reading alone; the caller closes it. It
// has the files of Tree, and possibly others that the module has written since. It can be
// opened until LockedPackages returns.
func (p LockedPackage) Open() (*os.Root, error) { return opendir.Root(p.dir) }

// LockedPackages calls use with each package that the locks of some root modules name:
// once for each entry of each lock. It is for programs that take packages somewhere else,
// or look at what is in them. What the request says about changes does not matter.
//
// The locks must be complete, also for the providers that the modules require if
// [Request.Providers] is set; [Installer.LockedProviders] has their packages. Entries are confirmed by their origins or by
// [Installer].Stores, and packages fetched into the cache and compared with the hashes of
// the lock, as in an installation with [Request].Locked; what is installed or in the
// cache is used. The projects stay as they are.
//
// use is called from several goroutines, for at most [Installer].Parallel packages at
// once, as soon as all packages of a project are known. Entries of several calls or
// projects often have the same package: [hashing.Tree.T1] tells. An error of use ends the
// work on its project, which fails with a *[ModuleError] over it. A project that fails
// leaves the others alone; the error joins a *[ProjectError] for each one that did.
//
// onEvent is as for InstallAll.
func (in *Installer) LockedPackages(ctx context.Context, dirs []string, req Request, onEvent func(dir string, event Event), use func(context.Context, LockedPackage) error) error {
	req.Locked, req.DryRun, req.LockOnly, req.Update = true, true, false, Update{}
	return in.forEachProject(dirs, req, onEvent, func(in *Installer, _ int, req Request) error {
		return in.lockedPackagesOf(ctx, req, use)
	})
}

// lockedPackagesOf is LockedPackages for one project.
func (in *Installer) lockedPackagesOf(ctx context.Context, req Request, use func(context.Context, LockedPackage) error) (err error) {
	req.Vendor = "" // what is vendored confirms no entries
	inst, err := in.prepare(req)
	if err != nil {
		return err
	}
	p, err := inst.openProject(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	session, done, err := in.sharedSession(inst.key)
	if err != nil {
		return err
	}
	defer done()
	var stage *providerStage
	if req.Providers != nil {
		if stage, err = quietProviderStage(p, session, inst.events); err != nil {
			return err
		}
	}
	modules, err := newInstallRun(p, inst.config, session, inst.events).resolveLocked(ctx, stage.require())
	if err == nil {
		err = stage.checkLock(ctx)
	}
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(in.parallel())
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

// resolveLocked walks the tree by the lock. The packages are placed for reading alone.
func (r *installRun) resolveLocked(ctx context.Context, require func(addrs.Module, ModuleConfig)) ([]*module, error) {
	defer r.confirmed.Keep(r.session.Cache)
	if err := r.checkLost(); err != nil {
		return nil, err
	}
	tree, err := r.walk(ctx, r.newResolver(unified{}, r.events), require)
	return tree.modules, err
}

// LockedProvider is the package of a provider for a platform that an entry of a lock names.
type LockedProvider struct {
	// Project is the root module's directory, as LockedProviders got it.
	Project string
	// Entry is the entry of the project's lock.
	Entry    lockfile.Provider
	Platform addrs.Platform

	archive func(context.Context) (*providers.Archive, error)
}

// ProviderArchive is the archive of a provider's package, which was compared with the
// lock. It must be closed.
type ProviderArchive struct {
	// Hashes are its own, sorted: the h1 of its content, and its zh if the lock has that.
	// Without the zh the archive was packed here, and depends only on its content.
	Hashes []hashing.Hash
	// Size is its size in bytes.
	Size int64

	io.WriterTo
	io.Closer
}

// Archive gets the archive: from the provider's source, unless the lock has no zh hashes and
// the content is in the cache. The source proves it, as in an installation.
func (p LockedProvider) Archive(ctx context.Context) (*ProviderArchive, error) {
	got, err := p.archive(ctx)
	if err != nil {
		return nil, err
	}
	return &ProviderArchive{Hashes: got.Hashes, Size: got.Size, WriterTo: got, Closer: got}, nil
}

// LockedProviders calls use for each provider in the locks of some root modules, and for
// each platform of req.Providers: this machine's own if it names none. It is for programs
// that take packages somewhere else. It reads the locks alone, and the configuration is not
// looked at; what policies say of providers applies. A provider of which the lock has no
// hash fails.
//
// use is called from several goroutines, for at most [Installer].Parallel packages at once.
// An error ends the work on its project. A project that fails leaves the others alone; the
// error joins a *[ProjectError] for each one that did. onEvent is as for InstallAll.
func (in *Installer) LockedProviders(ctx context.Context, dirs []string, req Request, onEvent func(dir string, event Event), use func(context.Context, LockedProvider) error) error {
	req.Locked, req.DryRun, req.LockOnly, req.Update = true, true, false, Update{}
	if req.Providers == nil {
		req.Providers = &Providers{}
	}
	return in.forEachProject(dirs, req, onEvent, func(in *Installer, _ int, req Request) error {
		return in.lockedProvidersOf(ctx, req, use)
	})
}

// lockedProvidersOf is LockedProviders for one project.
func (in *Installer) lockedProvidersOf(ctx context.Context, req Request, use func(context.Context, LockedProvider) error) (err error) {
	q, err := in.openToAsk(ctx, req)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.close()) }()
	stage, err := quietProviderStage(q.openProject, q.session, q.events)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(in.parallel())
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

// ReadLockedProviders returns the providers in the lock of a request's project, which is the
// one that stock tools read. The error is as for [ReadLock].
func ReadLockedProviders(req Request) ([]lockfile.Provider, error) {
	if !req.hasStockLock() {
		req.LockFile = ""
	}
	lock, err := ReadLock(req)
	if err != nil {
		return nil, err
	}
	if faults := lock.ProviderFaults(); faults.HasErrors() {
		return nil, &LockFileError{File: req.lockFile(), Diagnostics: faults}
	}
	return lock.Providers(), nil
}

// platforms are those that are named, or else this machine's own.
func (p *Providers) platforms() []addrs.Platform {
	if len(p.Platforms) == 0 {
		return []addrs.Platform{addrs.CurrentPlatform()}
	}
	return p.Platforms
}

// checkLock returns an error if the lock does not have all providers that the modules
// require. The stage may be nil.
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
