package cotter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/localstate"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/treeproviders"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// requirements are the provider requirements of a module tree, and the errors and warnings
// about them.
type requirements struct {
	*treeproviders.Requirements
	failures failures

	mu       sync.Mutex
	warnings []moduleWarning
}

// moduleWarning is a warning about a module's configuration.
type moduleWarning struct {
	path addrs.Module
	diag *hcl.Diagnostic
}

func newRequirements() *requirements {
	return &requirements{Requirements: &treeproviders.Requirements{}}
}

// add adds the requirements of one module.
func (r *requirements) add(path addrs.Module, config ModuleConfig) {
	if config.ProviderDiagnostics.HasErrors() {
		r.failures.add(path, nil, &ConfigError{Path: path, Diagnostics: config.ProviderDiagnostics})
	}
	r.mu.Lock()
	for _, diag := range config.ProviderDiagnostics {
		if diag.Severity != hcl.DiagError {
			r.warnings = append(r.warnings, moduleWarning{path, diag})
		}
	}
	r.mu.Unlock()
	r.Add(path, config.Providers)
	if path.IsRoot() && len(config.Calls) > 0 {
		r.Expect()
	}
}

// pool returns the required providers in the order of the lock, and all errors about the
// requirements.
func (r *requirements) pool() ([]treeproviders.Required, error) {
	all, errs := r.Pool()
	return all, errors.Join(append(r.failures.errs(), errs...)...)
}

// readState returns the providers that the state in the project needs. The error is about
// an address in the state that stock tools refuse as well.
func (p *openProject) readState(ctx context.Context) (localstate.Needs, error) {
	workspace, err := p.req.workspace()
	if err != nil {
		workspace = "" // it is not known
	}
	return localstate.Read(ctx, localstate.Project{
		Dir: p.req.dir(), DataDir: p.req.dataPath(), Workspace: workspace, Inputs: p.req.configInputs(workspace),
		Terraform: p.dialect == DialectTerraform, KeepAddresses: p.req.KeepStateAddresses, Parser: p.dialect.parser(),
	})
}

// unrequired returns the providers of a project that its modules do not require.
func (p *openProject) unrequired(ctx context.Context, lock *providerLock, required []treeproviders.Required) (treeproviders.Unrequired, error) {
	state, err := p.readState(ctx)
	if err != nil {
		return treeproviders.Unrequired{}, err
	}
	return treeproviders.FindUnrequired(state, lock.Lock, required, false), nil
}

// providerStage finds, gets and checks the providers of one project, while its modules are
// walked and afterwards.
type providerStage struct {
	*openProject
	lock     *providerLock
	events   *events
	required requirements
	stage    *treeproviders.Stage
	// stop cancels requests whose results are not needed.
	stop func()
}

// newProviderStage returns a stage without requirements. Requirements that are added later
// are requested at once. The stage must be closed.
func newProviderStage(ctx context.Context, p *openProject, session *session, events *events) (*providerStage, error) {
	s, err := quietProviderStage(p, session, events, p.req.providerRule())
	if err != nil {
		return nil, err
	}
	ctx, s.stop = context.WithCancel(ctx)
	s.stage.Begin(ctx)
	return s, nil
}

// providerRule returns which evidence is enough for the providers of an installation.
func (r Request) providerRule() evidence.Rule {
	switch {
	case r.Locked:
		return evidence.For(evidence.Locked)
	case r.LockOnly && r.DryRun:
		return evidence.For(evidence.LockCheck)
	case r.LockOnly:
		return evidence.For(evidence.Lock)
	case r.Update.All || len(r.Update.Keys)+len(r.Update.Providers) > 0:
		return evidence.For(evidence.Update)
	}
	return evidence.For(evidence.Install)
}

// publishRule returns which evidence is enough for providers that are copied to a bundle or
// a mirror.
func (p *Providers) publishRule() evidence.Rule {
	rule := evidence.For(evidence.Publish)
	if p.AllowProject {
		rule.Provider = append(slices.Clone(rule.Provider), evidence.Project)
	}
	return rule
}

// quietProviderStage is like newProviderStage, but makes no requests before their results
// are needed. The stage need not be closed.
func quietProviderStage(p *openProject, session *session, events *events, rule evidence.Rule) (*providerStage, error) {
	lock, err := p.providerLock()
	if err != nil {
		return nil, err
	}
	s := &providerStage{openProject: p, lock: lock, events: events}
	s.stage = &treeproviders.Stage{
		Session: session.providers, Source: p.req.ProviderSource, SourceKey: p.req.dir(), Lock: lock.Lock, Rules: p.rules, Rule: rule,
		Update: treeproviders.Update{All: p.req.Update.All, AllowDowngrade: p.req.Update.AllowDowngrade, Optional: p.req.Update.several},
		Locked: p.req.Locked, Offline: p.req.Offline, Prune: p.req.Providers.Prune, Others: p.req.Providers.others(),
		Installed: p.providersPath(), State: p.readState, Refuse: s.refuse, Warn: func(text string) { events.warn(nil, text) }, OnEvent: events.ofProviders,
	}
	for _, text := range p.req.Update.Providers {
		provider, err := p.dialect.parser().ParseProviderSource(text)
		if err != nil {
			return nil, err
		}
		s.stage.Update.Providers = append(s.stage.Update.Providers, provider)
	}
	stores := session.storesOf(p.req, events)
	s.stage.Offers, s.stage.Stores, s.stage.OffersKey = stores.Offers(), stores.Evidence(), stores.Key()
	s.required.Requirements = &s.stage.Requirements
	s.stage.Open()
	return s, nil
}

// refuse returns the error for entries that cannot be used and must not change.
func (s *providerStage) refuse(all []treeproviders.Refusal) error {
	var refused refusals
	for _, r := range all {
		_ = refused.note(LockedReason{Provider: r.Provider, Range: r.Range, Reason: r.Reason, Missing: r.Missing})
	}
	return refused.err(s.lock.req.lockFile())
}

// close cancels requests whose results are not needed, and waits for their end. s may be
// nil.
func (s *providerStage) close() {
	if s != nil {
		s.stop()
		s.stage.Wait()
	}
}

// require returns the function that a walk calls with the configuration of each module, or
// nil if s is nil.
func (s *providerStage) require() func(addrs.Module, ModuleConfig) {
	if s == nil {
		return nil
	}
	return s.required.add
}

// warnOfDialect warns if the dialect was not certain and a provider depends on it. s may be nil.
func (s *providerStage) warnOfDialect() {
	if s == nil {
		return
	}
	all, _ := s.required.Pool() // finish returns the errors
	for _, required := range all {
		for _, use := range required.Uses {
			if !use.Hostless {
				continue
			}
			if text := s.assumedDialect("provider "+use.Provider.Namespace+"/"+use.Provider.Type, use.Range); text != "" {
				s.events.emit(Warning{Message: text, Kind: WarningDialectAssumed})
			}
			return
		}
	}
}

// finish selects, gets and checks all providers. Nothing in the project is changed yet. If
// s is nil, the run does not touch providers and the plan is nil.
func (s *providerStage) finish(ctx context.Context) (*providerPlan, error) {
	if s == nil {
		return nil, nil
	}
	for _, w := range s.required.warnings {
		s.events.warnOf(w.path, w.diag)
	}
	required, err := s.required.pool()
	if err != nil {
		return nil, err
	}
	plan, err := s.stage.Finish(ctx, required)
	if err != nil {
		return nil, err
	}
	return &providerPlan{stage: s, Plan: plan}, nil
}

// providerPlan is the planned change of a project's providers. A nil *providerPlan is valid
// and describes a run that does not touch providers.
type providerPlan struct {
	*treeproviders.Plan
	stage *providerStage
}

// changesLockOfModules reports whether the change of the providers changes the lock that
// has the modules.
func (p *providerPlan) changesLockOfModules() bool {
	return p != nil && p.stage.lock.hasModules && len(p.Changes) > 0
}

// place puts the provider packages in their places. It adds to the result which of them were
// downloaded although they were there.
func (p *providerPlan) place(ctx context.Context, result *Result) error {
	if p == nil || !p.stage.req.places() {
		return nil
	}
	req := p.stage.req
	layout := store.LayoutLink
	if req.Layout == LayoutCopy {
		layout = store.LayoutCopy
	}
	refetched, err := p.Place(ctx, p.stage.providersPath(), req.dir(), layout, func(placed treeproviders.Placement) {
		dir, proven := providerDir(req, placed.Planned), placed.Got.Authentication
		if placed.Unexplained {
			p.stage.events.emit(UnexpectedFiles{Provider: placed.Address, Files: placed.Files, Replaced: true})
			p.stage.events.emit(Warning{Message: fmt.Sprintf("%s did not match the lock and was replaced%s", dir, listed(placed.Files)), Kind: WarningRestored})
		}
		if placed.IsNew {
			p.stage.events.emit(ProviderInstalled{Provider: placed.Address, Version: placed.Version.String(), Dir: dir, KeyID: proven.KeyID, Key: proven.Key, Evidence: proven.Evidence, Replaced: placed.Unexplained})
		}
	})
	for _, again := range refetched {
		result.Refetched = append(result.Refetched, Refetched{Package: again.Got.Location, Provider: again.Address, Bytes: again.Got.Bytes})
	}
	return err
}

// providerDir returns the directory of a package, relative to the root module's.
func providerDir(req Request, p treeproviders.Planned) string {
	return path.Join(filepath.ToSlash(req.dataDir()), "providers", p.At())
}

// describe adds the providers to the result of a run.
func (p *providerPlan) describe(result *Result) {
	if p == nil {
		return
	}
	for _, change := range p.Changes {
		result.ProviderChanges = append(result.ProviderChanges, ProviderChange(change))
	}
	if req := p.stage.req; !req.LockOnly {
		for _, update := range p.Updates(p.stage.providersPath()) {
			result.ProviderUpdates = append(result.ProviderUpdates, ProviderChange(update))
		}
	}
	result.DialectMatters = result.DialectMatters || len(p.Providers) > 0
	for _, planned := range p.Providers {
		entry, proven := planned.LockEntry, planned.Got.Authentication
		result.Providers = append(result.Providers, Provider{
			Address: entry.Address, Version: entry.Version, Constraints: entry.Constraints, Hashes: entry.Hashes,
			Dir: providerDir(p.stage.req, planned), RequiredBy: planned.Uses, Location: planned.Got.Location,
			KeyID: proven.KeyID, Key: proven.Key, Evidence: proven.Evidence,
		})
	}
}

// writeOwnLock writes the lock that has the providers, unless the modules are in the same
// lock.
func (p *providerPlan) writeOwnLock() error {
	if p == nil || p.stage.lock.hasModules {
		return nil
	}
	return p.writeLock()
}

// writeLock writes the lock that has the providers, if it changes.
func (p *providerPlan) writeLock() error {
	s := p.stage
	if s.req.DryRun || len(p.Changes) == 0 {
		return nil
	}
	lock := s.lock.Clone()
	lock.NameTool(s.dialect.String())
	p.WriteTo(lock)
	if err := lock.Check(); err != nil {
		return err
	}
	if err := project.WriteLock(s.lock.req.location(), s.lock.src, lock.Bytes()); err != nil {
		return err
	}
	s.events.emit(LockFileWritten{File: s.lock.req.lockFile(), Created: s.lock.src == nil})
	return nil
}

// compareProviders compares the installed providers with the lock. If the project has no
// providers directory, it was installed without providers, and none is reported as missing.
func (in *Installer) compareProviders(ctx context.Context, p *openProject, lock *providerLock) ([]ProviderReport, error) {
	entries := lock.Providers()
	if len(entries) == 0 {
		return nil, nil
	}
	store := store.ViewProviders(in.CacheDir, p.key)
	found, err := treeproviders.Inspect(ctx, store, p.providersPath(), entries)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	knows := in.providerEvidence(p, store)
	reports := make([]ProviderReport, len(found))
	for i, state := range found {
		entry := entries[i]
		r := &reports[i]
		*r = ProviderReport{
			Provider: entry.Address, Version: entry.Version, Status: statuses[state.Status], Former: state.Former, Want: entry.Hashes, Got: state.H1, Err: state.Err,
		}
		if r.intact() {
			entry.Hashes = []hashing.Hash{state.H1} // the lock may also have hashes of other packages
			r.Evidence = knows(ctx, entry)
			r.Unconfirmed = r.Evidence.IsZero() && in.hasState()
		}
	}
	return reports, nil
}

// providerEvidence returns a function that returns who confirms the package of a lock entry
// for this platform. It sends no requests.
func (in *Installer) providerEvidence(p *openProject, store *store.Providers) func(context.Context, lockfile.Provider) evidence.Evidence {
	source := p.req.ProviderSource
	if source == nil {
		source = in.providers()
	}
	getter := &providers.Getter{Source: source, Store: store, Rule: evidence.For(evidence.Verify), Offline: true}
	for _, named := range slices.Concat(p.req.Stores, in.Stores) {
		getter.Stores = append(getter.Stores, named.Evidence())
	}
	return func(ctx context.Context, entry lockfile.Provider) evidence.Evidence {
		version, err := versions.Parse(entry.Version)
		if err != nil {
			return evidence.Evidence{}
		}
		return getter.Evidence(ctx, providers.Want{Provider: entry.Address, Version: version, Platform: addrs.CurrentPlatform(), Locked: entry.Hashes})
	}
}

// refusedProviders returns a *ProviderError for each provider in a lock that the policies
// do not allow. reports are the reports about the installed ones.
func (p *openProject) refusedProviders(lock *providerLock, reports []ProviderReport) []error {
	var refused []error
	for _, entry := range lock.Providers() {
		err := p.rules.CheckProvider(entry.Address)
		brought := slices.ContainsFunc(reports, func(r ProviderReport) bool {
			return r.Provider == entry.Address && r.Evidence.Kind == evidence.Project
		})
		if err == nil && brought {
			err = p.rules.CheckProjectProvider()
		}
		if err != nil {
			refused = append(refused, &ProviderError{Provider: entry.Address, Version: entry.Version, Err: err})
		}
	}
	return refused
}

// providersPath returns the path of the directory of installed providers.
func (p *openProject) providersPath() string { return filepath.Join(p.req.dataPath(), "providers") }

// hasProviders reports whether the project has a providers directory. A project without one
// was installed without providers.
func (p *openProject) hasProviders() bool {
	return exists(p.providersPath())
}

// compareRequirements adds to a report where the lock does not match the requirements of
// the modules. Entries that no module requires are reported only if all modules could be
// read.
func (p *openProject) compareRequirements(ctx context.Context, lock *providerLock, required *requirements, complete bool, report *Report) error {
	pooled, err := required.pool()
	if err != nil {
		report.Unread = append(report.Unread, err)
		complete = false
	}
	others, err := p.unrequired(ctx, lock, pooled)
	if err != nil {
		return err
	}
	if !complete {
		others.InState = nil // a module that could not be read may decide how their addresses are read
	}
	takenOver := make(map[addrs.Provider]bool)
	for _, r := range treeproviders.Sorted(pooled, others.InState, others.Kept) {
		entry, has := lock.Provider(r.Address)
		if !r.IsDecided(entry, has) {
			takenOver[entry.From] = true
			report.Stale = append(report.Stale, r.Fail("", &StaleError{r.Undecided(entry, has).Reason}))
		}
	}
	for _, address := range others.Gone {
		if !complete {
			break // a module that could not be read may require it
		}
		if takenOver[address] {
			continue // it is reported above
		}
		report.Stale = append(report.Stale, &ProviderError{Provider: address, Err: &StaleError{"the lock has an entry for it, but no module requires it"}})
	}
	return nil
}
