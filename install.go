package cotter

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/internal/materialize"
	"github.com/cotterpin/cotter/internal/rules"
	"github.com/cotterpin/cotter/internal/stores"
	"github.com/cotterpin/cotter/internal/userkey"
	"github.com/cotterpin/cotter/internal/vendordir"
)

// Install installs the modules of a configuration: exactly what the lock says, and
// for calls without an entry the newest version that they allow. It writes the
// modules to their places, then the lock, then modules.json; after an error all
// three are as they were. With DryRun or LockOnly less is written; see [Request].
//
// An error about one module is a *ModuleError, about configuration that cannot be
// read a *ConfigError, about an unusable lock a *LockFileError, about a lock that
// would have to change and may not a *LockedError or a *LostEntriesError. If
// several modules failed the error joins all of them, in the order of their paths.
func (in *Installer) Install(ctx context.Context, req Request) (*Result, error) {
	events := &events{fn: in.OnEvent}
	key, err := in.userKey(events)
	if err != nil {
		return nil, err
	}
	return in.install(ctx, req, key, nil, events)
}

// install is Install as part of a session, or with one of its own if shared is nil.
func (in *Installer) install(ctx context.Context, req Request, key *userkey.Key, shared *session, events *events) (_ *Result, err error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	config, err := in.config(req)
	if err != nil {
		return nil, err
	}
	rules, err := req.readRules()
	if err != nil {
		return nil, err
	}
	onlyProviders := req.Providers != nil && req.Providers.Only
	if !onlyProviders {
		var result *Result
		if result, config, err = in.nothingToInstall(ctx, req, config, events); err != nil || result != nil && req.Providers == nil {
			return result, err
		}
		onlyProviders = result != nil
	}
	if onlyProviders {
		return in.providersAlone(ctx, req, rules, config, key, shared, events)
	}
	p, err := in.openToInstall(ctx, req, rules, key, events)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if shared == nil {
		var done func() error
		if shared, done, err = in.projectSession(p); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, done()) }()
		shared.warnOfCache(events)
	}
	return newInstallRun(p, config, shared, events).run(ctx)
}

// installRun is the installation of one project.
type installRun struct {
	*openProject
	session   *session
	config    ConfigReader
	events    *events
	confirmed *lockentry.Confirmations
}

func newInstallRun(p *openProject, config ConfigReader, session *session, events *events) *installRun {
	return &installRun{
		openProject: p, config: config, session: session, events: events,
		confirmed: &lockentry.Confirmations{Former: p.former, FormerConfirmed: p.formerConfirmed, Recorded: session.Cache.Confirmed},
	}
}

// run walks the calls of the tree and selects, fetches and stages a package for each,
// gets the providers that the modules require, plans the change of the project and makes
// it. Until then nothing in the project has changed.
func (r *installRun) run(ctx context.Context) (*Result, error) {
	defer r.confirmed.Keep(r.session.Cache)
	if err := r.checkLost(); err != nil {
		return nil, err
	}
	shared, err := r.unify(ctx)
	if err != nil {
		return nil, err
	}
	providers, err := r.newProviderStage(ctx)
	if err != nil {
		return nil, err
	}
	defer providers.close()
	resolver := r.newResolver(shared, r.events)
	defer resolver.placer.vendored.Close()
	tree, err := r.walk(ctx, resolver, providers.require())
	if err != nil {
		return nil, err
	}
	gotProviders, err := providers.finish(ctx)
	if err != nil {
		return nil, err
	}
	stagings, err := resolver.placer.linkSharedTrees(ctx, tree.modules)
	if err != nil {
		return nil, err
	}
	planner := &planner{openProject: r.openProject, events: r.events, vendored: resolver.placer.vendored, providers: gotProviders}
	plan, err := planner.plan(ctx, tree, stagings)
	if err != nil {
		return nil, err
	}
	return plan.result, plan.commit(ctx)
}

// unify finds the versions that all calls of a source share, if the request asks for
// that.
func (r *installRun) unify(ctx context.Context) (unified, error) {
	if !r.req.Unify {
		return nil, nil
	}
	return unify(ctx, r.look)
}

// newProviderStage returns the stage of providers; nil if the run leaves them alone.
func (r *installRun) newProviderStage(ctx context.Context) (*providerStage, error) {
	if r.req.Providers == nil {
		return nil, nil
	}
	return newProviderStage(ctx, r.openProject, r.session, r.events)
}

// newResolver wires the stages that turn calls into modules.
func (r *installRun) newResolver(shared unified, events *events) *resolver {
	asks := r.session.originsFor(r.openProject, events)
	placer := &placer{
		Session: r.session.Session, dirs: r.dirs, layout: r.req.Layout, project: r.files, events: events, readOnly: !r.req.places(),
	}
	if r.dirs.Vendor != nil {
		placer.vendored = &vendordir.Packages{Dir: r.dirs.Vendor, Rewrites: r.req.WriteVendor, Optional: r.req.LockOnly}
	}
	if r.req.places() {
		if !r.files.HasLinks() {
			placer.layout = LayoutCopy
		}
		placer.stage = &materialize.Stage{Project: r.files, Cache: r.session.Cache, KeepsModes: r.installed.KeepsModes(), Slot: r.session.Slot}
	}
	res := &resolver{
		project: r.openProject, update: r.req.Update, locked: r.req.Locked,
		selector: &selector{origins: asks, events: events, update: r.req.Update, lock: r.lock, unified: shared},
		origins:  asks, placer: placer, events: events, confirmed: r.confirmed,
	}
	res.entries = &lockedEntries{
		origins: asks, placer: placer, events: events, confirmed: r.confirmed,
		refusals: &res.refusals, restored: &res.restored, locked: r.req.Locked,
		stores: &stores.Stores{Session: r.session.stores, Offline: r.req.Offline, Check: checkStatement, OnEvent: events.ofOrigins},
	}
	return res
}

// look walks the tree without placing anything.
func (r *installRun) look(ctx context.Context, shared unified) (*versionedCalls, *selector, error) {
	res := r.newResolver(shared, r.events.ofFetches())
	res.noted, res.placer.readOnly = newVersionedCalls(), true
	_, err := r.walk(ctx, res, nil)
	return res.noted, res.selector, err
}

// walk resolves the whole tree. require, which may be nil, is told what each module
// requires.
func (r *installRun) walk(ctx context.Context, res *resolver, require func(addrs.Module, ModuleConfig)) (resolvedTree, error) {
	ahead := newPrefetcher(r.newResolver(res.selector.unified, res.events.ofFetches()))
	defer func() { ahead.stop() }()
	w := &walker{
		config: r.config, dialect: r.dialect, place: res.place, parallel: cap(r.session.Slots), begin: ahead.start, require: require,
		warn: res.events.warnOf,
	}
	modules, failures := w.walk(ctx, r.req.dir())
	tree := resolvedTree{modules: modules, restored: &res.restored, hostless: res.hostless.first}
	for _, warning := range []Warning{
		{Message: warningOfRestored(tree.restored, r.req.lockFile())},
		{Message: r.assumedDialect(tree.hostless), Kind: WarningDialectAssumed},
		{Message: constraintsBeside(modules)},
	} {
		if warning.Message != "" {
			res.events.emit(warning)
		}
	}
	err := failures.join()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return tree, errors.Join(res.refusals.err(r.req.lockFile()), err)
}

// checkLost refuses a lock that has lost all of its entries, in a run that may not
// change it: that is one problem and not one for each call.
func (r *installRun) checkLost() error {
	if !r.req.Locked || r.lockSrc == nil || len(r.lock.Modules()) > 0 || r.former == nil || len(r.former.Modules()) == 0 {
		return nil
	}
	return &LostEntriesError{LockFile: r.req.lockFile()}
}

// nothingToInstall returns the result of a run that has nothing to do: the root
// module calls no modules, the lock has none, and there is no modules directory
// from which some would have to be removed. Stock tools write nothing then, and
// neither does a run. It returns nil if the project is to be opened. The reader that it
// returns has read the root module already, if it did: a pipe with values can be read
// only once.
func (in *Installer) nothingToInstall(ctx context.Context, req Request, config ConfigReader, events *events) (*Result, ConfigReader, error) {
	_, err := os.Lstat(filepath.Join(req.dataPath(), "modules"))
	if !errors.Is(err, fs.ErrNotExist) || len(req.Update.Keys) > 0 {
		return nil, config, nil
	}
	p := &openProject{req: req}
	if err := p.read(ctx); err != nil || len(p.lock.Modules()) > 0 {
		return nil, config, err
	}
	root := &rootReader{ConfigReader: config}
	root.module, root.diags = config.ReadModule(ctx, ConfigDir{Dir: req.dir(), Display: ".", Dialect: p.dialect, Providers: req.Providers != nil})
	if root.diags.HasErrors() || len(root.module.Calls) > 0 {
		return nil, root, ctx.Err()
	}
	for _, diag := range root.diags {
		events.warnOf(nil, diag)
	}
	return p.newResult(nil), root, ctx.Err()
}

// rootReader is a ConfigReader that has read the root module already.
type rootReader struct {
	ConfigReader
	module ModuleConfig
	diags  hcl.Diagnostics
}

// ReadModule makes rootReader a ConfigReader.
func (c *rootReader) ReadModule(ctx context.Context, dir ConfigDir) (ModuleConfig, hcl.Diagnostics) {
	if dir.Path.IsRoot() {
		return c.module, c.diags
	}
	return c.ConfigReader.ReadModule(ctx, dir)
}

// InstallProviders installs the providers that the installed modules of a
// configuration require, and leaves the modules as they are. Versions in the lock stay
// as long as they fit; for the others the newest is selected that all modules allow.
// Install does the same beside the modules if Request.Providers is set.
//
// With LockOnly nothing is installed but the lock is written, and with DryRun neither.
// An error about one provider is a *[ProviderError]; if several failed, the error joins
// all of them.
func (in *Installer) InstallProviders(ctx context.Context, req Request) (*Result, error) {
	only := Providers{Only: true}
	if req.Providers != nil {
		only.Platforms, only.Prune = req.Providers.Platforms, req.Providers.Prune
	}
	req.Providers = &only
	return in.Install(ctx, req)
}

// providersAlone installs the providers of a project whose modules are as they are to
// be, as part of a session, or with one of its own if shared is nil.
func (in *Installer) providersAlone(ctx context.Context, req Request, rules rules.Rules, config ConfigReader, key *userkey.Key, shared *session, events *events) (*Result, error) {
	if shared != nil {
		return in.installProviders(ctx, req, rules, config, shared, events)
	}
	session, done, err := in.sharedSession(key)
	if err != nil {
		return nil, err
	}
	defer done()
	session.warnOfCache(events)
	return in.installProviders(ctx, req, rules, config, session, events)
}

// installProviders is InstallProviders as part of a session.
func (in *Installer) installProviders(ctx context.Context, req Request, rules rules.Rules, config ConfigReader, session *session, events *events) (_ *Result, err error) {
	p, err := viewWith(ctx, req, session.key)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	p.rules = rules
	stage, err := newProviderStage(ctx, p, session, events)
	if err != nil {
		return nil, err
	}
	defer stage.close()
	modules, err := in.installedRequirements(ctx, p, config, &stage.required)
	if err != nil {
		return nil, err
	}
	plan, err := stage.finish(ctx)
	if err != nil {
		return nil, err
	}
	result := p.newResult(modules)
	plan.describe(result)
	if err := plan.place(ctx); err != nil {
		return result, err
	}
	return result, plan.writeLock()
}
