package cotter

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/opendir"
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
// or look at what is in them. [Request.Providers] and what the request says about changes
// do not matter.
//
// The locks must be complete. Entries are confirmed by their origins or by
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
	req.Locked, req.DryRun, req.LockOnly, req.Providers, req.Update = true, true, false, nil, Update{}
	return in.forEachProject(dirs, req, onEvent, func(_ int, req Request, shared *session, events *events) error {
		return in.lockedPackagesOf(ctx, req, shared, events, use)
	})
}

// lockedPackagesOf is LockedPackages for one project, as part of a session.
func (in *Installer) lockedPackagesOf(ctx context.Context, req Request, shared *session, events *events, use func(context.Context, LockedPackage) error) (err error) {
	config, err := in.config(req)
	if err != nil {
		return err
	}
	p, err := in.openToInstall(ctx, req, shared.key, events)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.readRules(); err != nil {
		return err
	}
	r := &installRun{openProject: p, config: config, events: events, session: shared}
	modules, err := r.resolveLocked(ctx)
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
			done, err := shared.slot(ctx)
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
func (r *installRun) resolveLocked(ctx context.Context) ([]*module, error) {
	r.confirmed = &confirmations{former: r.former, recorded: r.session.cache.Confirmed}
	defer r.confirmed.keep(r.session.cache)
	if err := r.checkLost(); err != nil {
		return nil, err
	}
	return r.walk(ctx, r.newResolver(unified{}, r.events), nil)
}
