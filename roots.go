package cotter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/opendir"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/roots"
	"github.com/cotterpin/cotter/internal/vendordir"
	"github.com/cotterpin/cotter/lockfile"
)

// ProjectError is what failed in one of the configurations that InstallAll
// installs.
type ProjectError struct {
	// Dir is the root module's directory, as InstallAll got it.
	Dir string
	// Err is what Install returned.
	Err error
}

func (e *ProjectError) Error() string { return fmt.Sprintf("%s: %s", e.Dir, e.Err) }

func (e *ProjectError) Unwrap() error { return e.Err }

// InstallAll is Install for several root modules at once, each as req says but
// for its directory. Each version, tag and package is asked for once, whichever
// of them want it. A project that fails leaves the others alone: the results
// are in the order of dirs, nil where a project failed, and the error joins a
// *[ProjectError] for each of those. What req.Update names need not be in each of them.
//
// onEvent takes the place of in.OnEvent and is told whose event it is, "" for what
// concerns all of them; it is never called twice at once. nil is fine.
func (in *Installer) InstallAll(ctx context.Context, dirs []string, req Request, onEvent func(dir string, event Event)) ([]*Result, error) {
	results := make([]*Result, len(dirs))
	err := in.forEachProject(dirs, req, onEvent, func(i int, req Request, shared *session, events *events) error {
		req.Update = req.Update.ofSeveral()
		result, err := in.install(ctx, req, shared.key, shared, events)
		if err == nil {
			results[i] = result
		}
		return err
	})
	if err != nil {
		return results, err
	}
	return results, errors.Join(req.Update.missing(results)...)
}

// ofSeveral returns an update for one of several projects, which need not have all calls
// and providers that it names.
func (u Update) ofSeveral() Update {
	u.several = true
	return u
}

// missing returns the errors of what an update names and none of several projects has.
func (u Update) missing(results []*Result) []error {
	var errs []error
	for _, key := range u.Keys {
		if !slices.ContainsFunc(results, func(r *Result) bool { return r.hasCall(key) }) {
			errs = append(errs, fmt.Errorf("%q: %w", key, ErrNoSuchCall))
		}
	}
	for _, address := range u.Providers {
		if !slices.ContainsFunc(results, func(r *Result) bool { return r.requires(address) }) {
			errs = append(errs, fmt.Errorf("provider %s: %w", address, ErrNoSuchProvider))
		}
	}
	return errs
}

// hasCall reports whether the lock has an entry for a call.
func (r *Result) hasCall(key string) bool {
	return slices.ContainsFunc(r.Modules, func(m Module) bool { return m.Path.String() == key && m.Package != "" })
}

// requires reports whether the lock has a provider, by its address in a configuration.
func (r *Result) requires(address string) bool {
	provider, err := r.Dialect.parser().ParseProviderSource(address)
	return err == nil && slices.ContainsFunc(r.Providers, func(p Provider) bool { return p.Address == provider })
}

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
	return in.forEachProject(dirs, req, onEvent, func(_ int, req Request, shared *session, events *events) error {
		return in.lockedPackagesOf(ctx, req, shared, events, use)
	})
}

// lockedPackagesOf is LockedPackages for one project, as part of a session.
func (in *Installer) lockedPackagesOf(ctx context.Context, req Request, shared *session, events *events, use func(context.Context, LockedPackage) error) (err error) {
	req.Vendor = "" // what is vendored confirms no entries
	config, err := in.config(req)
	if err != nil {
		return err
	}
	rules, err := req.readRules()
	if err != nil {
		return err
	}
	p, err := in.openToInstall(ctx, req, rules, shared.key, events)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	var stage *providerStage
	if req.Providers != nil {
		if stage, err = quietProviderStage(p, shared, events); err != nil {
			return err
		}
	}
	modules, err := newInstallRun(p, config, shared, events).resolveLocked(ctx, stage.require())
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
			done, err := shared.Slot(ctx)
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

// forEachProject calls work for several root modules side by side, with the number and
// the request of each and a session that all of them share. One that fails leaves the
// others alone; the error joins a *ProjectError for each of those.
func (in *Installer) forEachProject(dirs []string, req Request, onEvent func(string, Event), work func(int, Request, *session, *events) error) error {
	serial := serialEvents(onEvent)
	all := &events{fn: serial("")}
	key, err := in.userKey(all)
	if err != nil {
		return err
	}
	shared, done, err := in.sharedSession(key)
	if err != nil {
		return err
	}
	defer done()
	shared.warnOfCache(all)
	failures := make([]error, len(dirs))
	var group errgroup.Group
	group.SetLimit(in.parallel())
	for i, dir := range dirs {
		group.Go(func() error {
			req, err := req.inDir(dir)
			if err == nil {
				err = work(i, req, shared, &events{fn: serial(dir)})
			}
			if err != nil {
				failures[i] = &ProjectError{dir, err}
			}
			return nil // the others go on
		})
	}
	_ = group.Wait() // failures are kept one by one
	return errors.Join(failures...)
}

// serialEvents makes callbacks for single projects out of the one for all.
func serialEvents(onEvent func(string, Event)) func(dir string) func(Event) {
	if onEvent == nil {
		return func(string) func(Event) { return nil }
	}
	var mu sync.Mutex
	return func(dir string) func(Event) {
		return func(event Event) {
			mu.Lock()
			defer mu.Unlock()
			onEvent(dir, event)
		}
	}
}

// Roots finds the root modules at and below a directory: the directories with module
// calls, the configuration of a provider, a backend or cloud block, or configuration
// beside a lock, which no other one below dir calls by a local path. They are what
// InstallAll is for. Directories whose names begin with a dot are passed over,
// .terraform among them, as are directories of vendored packages, and links are not
// followed. The paths begin with dir and are sorted.
//
// Configuration that cannot be read makes its directory a root: Install says what is
// wrong with it. The error is about directories that cannot be listed, or ctx's.
func (in *Installer) Roots(ctx context.Context, dir string, dialect Dialect) ([]string, error) {
	return roots.Find(ctx, dir, vendordir.IsDir, func(ctx context.Context, dir string) (roots.Module, error) {
		found, calls, err := in.readPlainCalls(ctx, dir, dialect)
		found.Root = calls > 0 || found.Unknown || installsProviders(ctx, dir, dialect)
		return found, err
	})
}

// readPlainCalls is readLocalCalls for directories whose calls have literal sources, as
// nearly all have. It parses little, so it misses syntax errors.
func (in *Installer) readPlainCalls(ctx context.Context, dir string, dialect Dialect) (found roots.Module, calls int, err error) {
	settings := configs.Reader{Terraform: dialect == DialectTerraform}.ReadSources(ctx, configs.Dir{Path: dir})
	if in.Config != nil || settings.Partial {
		return in.readLocalCalls(ctx, dir, dialect)
	}
	for _, source := range settings.Sources {
		found.Calls = append(found.Calls, localPath(source)...)
	}
	return found, len(settings.Sources), ctx.Err()
}

// readLocalCalls reads which modules the one in a directory calls by local paths, and how
// many calls it has in all.
func (in *Installer) readLocalCalls(ctx context.Context, dir string, dialect Dialect) (found roots.Module, calls int, err error) {
	config, err := in.config(Request{Dir: dir})
	if err != nil {
		return roots.Module{}, 0, err
	}
	module, diags := config.ReadModule(ctx, ConfigDir{Dir: dir, Display: dir, Dialect: dialect})
	found.Unknown = diags.HasErrors()
	for _, call := range module.Calls {
		found.Calls = append(found.Calls, localPath(call.Source)...)
	}
	return found, len(module.Calls), nil
}

// localPath is the path in a source address that is a local one; nil for all others.
func localPath(source string) []string {
	parsed, err := addrs.ParseModuleSource(source)
	if local, ok := parsed.(addrs.ModuleSourceLocal); ok && err == nil {
		return []string{local.String()}
	}
	return nil
}

// installsProviders reports whether a directory without module calls looks like a root
// module, of which the providers are to be installed.
func installsProviders(ctx context.Context, dir string, dialect Dialect) bool {
	reader, at := configs.Reader{Terraform: dialect == DialectTerraform}, configs.Dir{Path: dir}
	if exists(filepath.Join(dir, lockFileName)) {
		empty, err := reader.Empty(at)
		return err == nil && !empty
	}
	return reader.HasRootBlocks(ctx, at)
}

// ChangedRoots returns those of the root modules in dirs that changed files concern: a
// root module's own files, those of modules that it calls by local paths, and they in
// turn, its lock, its vendored packages, and the cotter.hcl that applies to it. A file belongs to the innermost
// of all these modules' directories that has it, so a change in envs/prod does not
// concern a root module in envs. Files may be gone. The request says what the lock is
// called, and the dialect.
//
// A root module with configuration that cannot be read, or with local paths that are not
// known without values of variables, counts as changed.
func (in *Installer) ChangedRoots(ctx context.Context, dirs, files []string, req Request) ([]string, error) {
	read := func(ctx context.Context, dir string) (roots.Module, error) {
		found, _, err := in.readLocalCalls(ctx, dir, req.Dialect)
		return found, err
	}
	return roots.Changed(ctx, dirs, files, read, func(root string, changed map[string]bool) bool { return hasChangedFile(root, changed, req) })
}

// hasChangedPackage reports whether files of a root module's vendored packages are among
// changed files.
func hasChangedPackage(root string, changed map[string]bool, req Request) bool {
	req.Dir = root
	vendor, err := req.vendorDir()
	if err != nil || vendor == nil {
		return err != nil // the run says what is wrong
	}
	for file := range changed {
		if pathsafe.Within(filepath.ToSlash(file), filepath.ToSlash(vendor.Path())) {
			return true
		}
	}
	return false
}

// hasChangedFile reports whether the lock, the settings or the vendored packages of a root
// module are among changed files.
func hasChangedFile(root string, changed map[string]bool, req Request) bool {
	lock := req.lockFile()
	if !filepath.IsAbs(lock) {
		lock = filepath.Join(root, lock)
	}
	if changed[lock] || hasChangedPackage(root, changed, req) {
		return true
	}
	for dir := root; ; dir = filepath.Dir(dir) {
		if changed[filepath.Join(dir, policyFileName)] {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
