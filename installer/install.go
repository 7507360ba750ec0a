package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/project/packagedir"
	"github.com/cotterpin/cotter/internal/project/treewalk"
	"github.com/cotterpin/cotter/internal/rules"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/lockfile"
)

// Install installs the modules of a configuration, and providers if the scope has them: as locked, else as the
// project uses them already (see [event.Selection]), else in the newest versions that the constraints allow. It
// puts packages in their directories, then writes the lock, then modules.json. After an error, all are as they
// were.
//
// The error joins *[ConfigError]s and *[ModuleError]s by path, and *[ProviderError]s; see [ModuleErrors]. It
// has a *[LockedError] if the lock would have to change, but must not, a *[lockfile.SyntaxError] if it is
// invalid, and, with Locked, a *[DialectError] if tofu and terraform read different files. An error in one part
// does not keep Install from looking at the others.
//
// If Install fails after it has walked the tree, the result is not nil: it has Root, Modules, Dialect,
// LockFile, and in Unresolved the modules that failed. Dir of a module is then where it would be.
func (in *Installer) Install(ctx context.Context, p Project, o InstallOptions) (*Result, error) {
	return install(ctx, in, request{Project: p, InstallOptions: o})
}

func install(ctx context.Context, in *Installer, req request) (_ *Result, err error) {
	defer ctxerr.Keep(ctx, &err)
	inst, err := prepare(in, req)
	if err != nil {
		return nil, err
	}
	if !req.Scope.modules() {
		return inst.installProviders(ctx)
	}
	empty, err := inst.emptyResult(ctx)
	switch {
	case err != nil:
		return nil, err
	case empty == nil:
		return inst.installTree(ctx)
	case req.Scope.providers():
		return inst.installProviders(ctx)
	}
	return empty, nil
}

// installation is the installation of one project, before the project is opened.
type installation struct {
	// clients have a reader of the configuration that reads the root module only once.
	clients clients
	user    user
	req     request
	rules   rules.Rules
	events  *events
}

// prepare checks a request, and reads the key, the policies and the inputs.
func prepare(in *Installer, req request) (_ *installation, err error) {
	if err := cmp.Or(checkInstaller(in), req.check()); err != nil {
		return nil, err
	}
	inst := &installation{clients: clientsOf(in), req: req, events: eventsOf(in, req.Project)}
	if inst.user, err = userOf(in, inst.events); err != nil {
		return nil, err
	}
	if inst.rules, err = req.readRules(); err != nil {
		return nil, err
	}
	config, err := inst.clients.configFor(req)
	if err != nil {
		return nil, err
	}
	inst.clients.Config = &rootReader{ConfigReader: config}
	return inst, nil
}

// emptyResult returns the result of an installation with no modules to place or remove, in which stock tools
// write nothing, and neither does Install; nil if the project has to be opened.
func (inst *installation) emptyResult(ctx context.Context) (*Result, error) {
	req := inst.req
	_, err := os.Lstat(req.modulesPath())
	if !errors.Is(err, fs.ErrNotExist) || len(req.Update.Keys) > 0 {
		return nil, nil
	}
	p := newOpenProject(req, inst.user, !req.Locked, nil)
	if err := p.read(ctx); err != nil || len(p.Lock.Modules())+len(p.Lock.Directories()) > 0 || p.merge.done {
		return nil, err
	}
	root, diags := inst.clients.Config.ReadModule(ctx, config.Dir{Dir: req.dir(), Display: ".", Terraform: p.ReadsAsTerraform(), Providers: req.Scope.providers()})
	if diags.HasErrors() || len(root.Calls) > 0 {
		return nil, ctxerr.Of(ctx)
	}
	warning, err := p.checkForms(ctx, nil)
	if err != nil {
		return nil, err
	}
	if warning.Message != "" {
		inst.events.emit(warning)
	}
	for _, diag := range diags {
		inst.events.emit(warningOf(nil, diag))
	}
	return p.newResult(nil), ctxerr.Of(ctx)
}

func (inst *installation) installTree(ctx context.Context) (_ *Result, err error) {
	ctx, run, release, err := inst.begin(ctx, inst.req.run())
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, release()) }()
	return run.run(ctx)
}

// begin opens the project, and returns its installation, which accepts the evidence that is enough for a kind
// of run, and the context of all requests. release must be called at the end.
func (inst *installation) begin(ctx context.Context, kind evidencerules.Run) (_ context.Context, _ *installRun, release func() error, err error) {
	p, err := inst.openProject(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, pool, done, err := inst.clients.poolFor(inst.clients.withNamedHosts(ctx, p), p)
	if err != nil {
		return nil, nil, nil, join(err, p.close())
	}
	pool.warnOfCache(inst.events)
	run := &installRun{
		openProject: p, config: inst.clients.Config, pool: pool, events: inst.events,
		trust: newTrust(p, inst.clients.ruleFor(kind), inst.clients.evidenceOf(inst.req), pool.Cache.Confirmed),
		lost:  &lostEntries{openProject: p},
	}
	return ctx, run, func() error { return join(done(), p.close()) }, nil
}

// openProject creates nothing in the project, not even an empty directory, unless the run places packages.
func (inst *installation) openProject(ctx context.Context) (p *openProject, err error) {
	req := inst.req
	takes := req.placesModules() || req.Scope.modules() && req.LockOnly && !req.DryRun && project.IsOpened(req.location())
	if takes {
		p, err = openToChange(ctx, req, inst.user, inst.events)
	} else {
		p, err = view(ctx, req, inst.user, !req.Locked)
	}
	if err != nil {
		return nil, err
	}
	p.rules = inst.rules
	if !takes && req.Scope.modules() && p.files != nil && p.files.Unfinished() {
		inst.events.warn(nil, "an earlier run was killed while it changed this project; the next installation undoes that first, and may change more than this run reports")
	}
	return p, nil
}

func (inst *installation) installProviders(ctx context.Context) (_ *Result, err error) {
	inst.req.Scope = ScopeProviders // if there are no modules, nothing of theirs is placed
	ctx, p, release, err := inst.begin(ctx, inst.req.run())
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, release()) }()
	stage, err := p.newProviderStage(ctx)
	if err != nil {
		return nil, err
	}
	defer stage.close()
	tree, err := (&reading{openProject: p.openProject, clients: inst.clients, events: inst.events}).installed(ctx, false, stage.required.add)
	if err != nil {
		return nil, err
	}
	warning, err := p.checkForms(ctx, tree.Modules)
	if err = join(err, joinFailures(tree.Failures)); err != nil {
		return p.found(tree.Modules, tree.Failures), join(err, stage.check(ctx))
	}
	if warning.Message != "" {
		inst.events.emit(warning)
	}
	stage.warnOfDialect()
	plan, err := stage.finish(ctx)
	if err != nil {
		return p.found(tree.Modules, tree.Failures), err
	}
	result := p.newResult(tree.Modules)
	plan.describe(result)
	if err = plan.install(ctx, result); err == nil {
		err = plan.writeLock(ctx, result)
	}
	if err != nil {
		return p.found(tree.Modules, tree.Failures), err
	}
	return result, nil
}

func (p *openProject) found(modules []*module, failures *failures) *Result {
	result := p.newResult(modules)
	addUnresolved(failures, result, p.req.KeepCredentials)
	return result
}

// installRun is the installation of one open project.
type installRun struct {
	*openProject
	pool       *pool
	config     ConfigReader
	events     *events
	trust      *trust
	mismatches mismatches
	lost       *lostEntries
}

// run walks the tree, stages a package for each call, plans the change of the project, and commits it. Nothing
// in the project changes before the commit.
func (r *installRun) run(ctx context.Context) (*Result, error) {
	defer r.keepMemos()
	defer r.lost.close()
	result, unread, err := r.install(ctx)
	if err != nil {
		r.mismatches.warn(r.events, wereLeftAlone, nil)
	}
	return result, join(unread, err)
}

// install is run without what ends every run. unread are the errors that the request allows.
func (r *installRun) install(ctx context.Context) (_ *Result, unread, err error) {
	shared, err := r.unify(ctx)
	if err != nil {
		return nil, nil, err
	}
	providers, err := r.newProviderStage(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer providers.close()
	resolver := r.newResolver(shared, r.events)
	tree, err := r.walk(ctx, resolver, providers.require())
	if ctx.Err() != nil {
		return nil, nil, ctxerr.Of(ctx)
	}
	if err != nil || providers.lacksFiles() {
		if err = withRefusals(err, providers.check(ctx)); !r.mayGoOn(err) {
			return r.found(tree.modules, tree.failures), nil, err
		}
		unread, providers = err, nil // what the unread files require is not known
	}
	result, err := r.change(ctx, tree, resolver, providers)
	if err != nil {
		return r.found(tree.modules, tree.failures), unread, err
	}
	addUnresolved(tree.failures, result, r.req.KeepCredentials)
	return result, unread, nil
}

// mayGoOn reports whether the request allows all errors of a walk.
func (r *installRun) mayGoOn(err error) bool {
	return r.req.AllowConfigErrors &&
		!slices.ContainsFunc(parts(err), func(err error) bool { return !isType[*ConfigError](err) })
}

func (r *installRun) change(ctx context.Context, tree resolvedTree, resolver *resolver, providers *providerStage) (*Result, error) {
	if tree.hostless == nil {
		providers.warnOfDialect()
	}
	gotProviders, err := providers.finish(ctx)
	if err != nil {
		return nil, err
	}
	stagings, err := resolver.stager.linkSharedTrees(ctx, tree.modules)
	if err != nil {
		return nil, err
	}
	plan := &plan{
		openProject: r.openProject, events: r.events, trust: r.trust, tree: tree, stagings: stagings,
		providers: gotProviders, mismatches: &r.mismatches,
	}
	if err := plan.make(ctx); err != nil {
		return nil, err
	}
	if len(plan.result.LockChanges) > 0 {
		plan.result.EarlierLock = r.lost.deletedFrom(ctx)
		if warning, stopped := r.lost.searchEnded(); stopped {
			r.events.emit(warning)
		}
	}
	if err := plan.commit(ctx); err != nil {
		return nil, err
	}
	return plan.result, nil
}

// keepMemos keeps the evidence of the run for later runs. If the cache is read-only, they ask again.
func (r *installRun) keepMemos() { _ = r.pool.Cache.Confirm(r.trust.memos.Take()...) }

func (r *installRun) unify(ctx context.Context) (unified, error) {
	if !r.req.Unify {
		return nil, nil
	}
	return unify(ctx, r.look)
}

// newProviderStage returns nil if the run does not touch providers.
func (r *installRun) newProviderStage(ctx context.Context) (*providerStage, error) {
	if !r.req.Scope.providers() {
		return nil, nil
	}
	return beginProviderStage(ctx, r.openProject, r.pool, r.trust.rule, r.events)
}

func (r *installRun) newResolver(shared unified, events *events) *resolver {
	origins, stager := r.pool.originsFor(r.openProject, events), r.newStager(events)
	return &resolver{
		project:  r.openProject,
		selector: &selector{origins: origins, events: events, update: r.req.Update, lock: r.Lock, past: r.past(r.lost), unified: shared},
		locator: &locator{
			origins: origins, stores: r.pool.storesOf(r.req, events), stager: stager, events: events, locked: r.req.Locked, run: r.trust,
			revisions: &revisions{origins: origins, events: events, run: r.trust},
		},
		origins: origins, stager: stager, events: events, lost: r.lost, run: r.trust,
	}
}

func (r *installRun) newStager(events *events) *stager {
	p := &stager{
		Client: r.pool.Client, project: r.openProject, layout: r.req.Layout, events: events, readOnly: !r.req.placesModules(), mismatches: &r.mismatches,
	}
	if p.readOnly {
		return p
	}
	if !r.files.HasLinks() {
		p.layout = LayoutCopy
	}
	p.stage = &packagedir.Stage{Project: r.files, Cache: r.pool.Cache, KeepsModes: r.dirs.KeepsModes, Slot: r.pool.Slot}
	return p
}

// look walks the tree without placing anything.
func (r *installRun) look(ctx context.Context, shared unified) ([]*call, *selector, error) {
	res := r.newResolver(shared, r.events.ofFetches())
	res.stager.readOnly = true
	tree, err := r.walk(ctx, res, nil)
	if ctx.Err() != nil || err != nil && r.mayGoOn(err) {
		err = ctxerr.Of(ctx)
	}
	return tree.calls, res.selector, err
}

// walk resolves the whole tree. require, which may be nil, gets the configuration of each module.
func (r *installRun) walk(ctx context.Context, res *resolver, require func(*module, config.Module)) (resolvedTree, error) {
	ahead := newPrefetcher(r.newResolver(res.selector.unified, res.events.ofFetches()))
	defer func() { ahead.stop() }()
	w := &treewalk.Walker{
		Project: &r.Project, Config: r.config, Find: res.module, Placed: res.placed, Begin: ahead.start, Require: require,
		Warn: func(path addrs.Module, diag *hcl.Diagnostic) { res.events.emit(warningOf(path, diag)) }, Parallel: cap(r.pool.Slots),
	}
	modules, calls, failures := w.Walk(ctx)
	return r.conclude(ctx, res, modules, calls, failures)
}

// conclude ends a walk: it sends the warnings about the tree, and returns the tree and all errors. calls are
// sorted by path.
func (r *installRun) conclude(ctx context.Context, res *resolver, modules []*module, calls []*call, failures *failures) (resolvedTree, error) {
	tree := resolvedTree{modules: modules, calls: calls, restored: make(map[string]lockfile.Module), replaced: make(map[string]*lockfile.Module), hostless: firstHostless(calls)}
	for _, c := range calls {
		if entry, ok := res.lostEntry(ctx, c); ok && !r.req.Locked {
			tree.restored[entry.Key] = entry
		}
		if c.Replaced != nil && !r.req.NoLock {
			tree.replaced[c.Key()] = res.replacedEntry(ctx, c)
		}
	}
	if len(tree.restored) > 0 {
		tree.earlier = r.lost.earlierLock(ctx)
	}
	refused := r.refused(ctx, takeRefusals(failures))
	tree.failures = failures
	ofForms, differs := r.checkForms(ctx, modules)
	for _, warning := range slices.Concat([]event.Warning{replacedWarning(calls)}, r.lost.warnings(ctx, slices.Sorted(maps.Keys(tree.restored))), []event.Warning{r.assumedDialectOf(tree.hostless), ofForms}, constraintsBeside(modules), r.otherSourceBlocks(modules), r.warningsOfLinks(modules)) {
		if warning.Message != "" {
			res.events.emit(warning)
		}
	}
	return tree, join(refused, differs, joinFailures(failures))
}

// withRefusals joins errors about providers to those about modules. The refused entries of one lock are one
// error.
func withRefusals(modules, providers error) error {
	all, more := parts(modules), parts(providers)
	for i, err := range all {
		locked, ok := errors.AsType[*LockedError](err)
		if !ok {
			continue
		}
		more = slices.DeleteFunc(more, func(err error) bool {
			other, ok := errors.AsType[*LockedError](err)
			if ok = ok && other.LockFile == locked.LockFile; ok {
				merged := *locked
				merged.Reasons = slices.Concat(locked.Reasons, other.Reasons)
				locked, all[i] = &merged, &merged
			}
			return ok
		})
	}
	return join(append(all, more...)...)
}

// refused returns the error for refused calls; nil if there are none.
func (r *installRun) refused(ctx context.Context, all []*refusal) error {
	var reasons []LockedReason
	for _, refused := range all {
		if refused.Vanished && len(r.Lock.Modules()) == 0 {
			return &LockedError{LockFile: r.req.lockFile(), Earlier: r.lost.from(ctx), Lost: true}
		}
		reasons = append(reasons, refused.LockedReason)
	}
	err := lockedError(r.req.lockFile(), reasons)
	if locked, ok := errors.AsType[*LockedError](err); ok {
		locked.Earlier = r.lost.deletedFrom(ctx)
	}
	return err
}

// otherSourceBlocks returns a warning for each source of which the lock has blocks in the format of the later draft,
// and of which the run has selected a version that none of them has. The blocks stay as they are.
func (r *installRun) otherSourceBlocks(modules []*module) []event.Warning {
	var list []event.Warning
	warned := make(map[string]bool)
	for _, m := range modules {
		if !m.OwnsPackage() || placed(m).selected.why == event.SelectionLocked || warned[m.Call.From.Versioned()] {
			continue
		}
		blocks := blocksOf(r.Lock, m.Call)
		if len(blocks) == 0 || hasVersion(blocks, m.Version()) {
			continue
		}
		warned[m.Call.From.Versioned()] = true
		var pinned []string
		for _, block := range blocks {
			pinned = append(pinned, block.Version.String())
		}
		list = append(list, event.Warning{Path: m.Path(), Range: blocks[0].Range, Message: fmt.Sprintf(
			"version %s was selected, but the block %q of the lock still pins %s; no run changes such blocks: update it with the tool that wrote it, or remove it",
			m.Version(), blocks[0].Source, strings.Join(pinned, " and "))})
	}
	return list
}

// constraintsBeside returns warnings about calls that stock tools refuse: with a version argument beside a
// source that is not a registry's.
func constraintsBeside(modules []*module) []event.Warning {
	var list []event.Warning
	for _, m := range modules {
		if c := m.Call; c.From.IsRemote() && c.Version != nil && c.Replaced == nil {
			list = append(list, event.Warning{Path: c.Path, Range: c.PlaceOfVersion(), Kind: event.WarningVersionArgument, Message: fmt.Sprintf(
				"tofu and terraform refuse a version argument next to a source that is not a registry address; they accept it in the address, as in \"?version=%s\"", c.From.Want)})
		}
	}
	return list
}
