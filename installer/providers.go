package installer

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/provider/treeproviders"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/origins"
)

// requirements are the provider requirements of a module tree, and the errors and warnings about them.
type requirements struct {
	*treeproviders.Requirements
	failures failures

	mu       sync.Mutex
	warnings []event.Warning
}

func newRequirements(p Project) *requirements {
	return &requirements{Requirements: &treeproviders.Requirements{Unmanaged: p.Unmanaged}}
}

func (r *requirements) add(m *module, config config.Module) {
	path := m.Path()
	if config.ProviderDiagnostics.HasErrors() {
		r.failures.Add(path, nil, &ConfigError{Path: path, Diagnostics: config.ProviderDiagnostics})
	}
	r.mu.Lock()
	for _, diag := range config.ProviderDiagnostics {
		if diag.Severity != hcl.DiagError {
			r.warnings = append(r.warnings, warningOf(path, diag))
		}
	}
	r.mu.Unlock()
	var from *url.URL
	if m.IsElsewhere() {
		from = origins.ParseOrigin(m.Origin())
	}
	r.Add(path, from, config.Providers)
	if path.IsRoot() && len(config.Calls) > 0 {
		r.Expect()
	}
}

func (r *requirements) pool() ([]treeproviders.Required, error) {
	all, errs := r.Pool()
	return all, join(append(r.failures.Errs(), errs...)...)
}

// providerStage finds, gets and checks the providers of one project, while its modules are walked and
// afterwards. A nil *providerStage is that of a run without providers.
type providerStage struct {
	*openProject
	lock     *providerLock
	events   *events
	required requirements
	stage    *treeproviders.Stage
	stop     func()
}

// beginProviderStage returns a stage that requests requirements at once when they are added. It must be closed.
func beginProviderStage(ctx context.Context, p *openProject, pool *pool, rule evidencerules.Rule, events *events) (*providerStage, error) {
	s, err := openProviderStage(p, pool, events, rule)
	if err != nil {
		return nil, err
	}
	ctx, s.stop = context.WithCancel(ctx)
	s.stage.Begin(ctx)
	return s, nil
}

// openProviderStage is like beginProviderStage, but makes no requests before their results are needed. The
// stage need not be closed.
func openProviderStage(p *openProject, pool *pool, events *events, rule evidencerules.Rule) (*providerStage, error) {
	lock, err := p.providerLock()
	if err != nil {
		return nil, err
	}
	s := &providerStage{openProject: p, lock: lock, events: events}
	s.stage = &treeproviders.Stage{
		Client: pool.providers, Source: p.req.ProviderSource, SourceKey: p.req.dir(), Lock: lock.Lock, Rules: p.rules, Rule: rule,
		Update: treeproviders.Update{All: p.req.Update.All, AllowDowngrade: p.req.Update.AllowDowngrade, To: p.req.Update.To, Optional: p.req.several},
		Locked: p.req.Locked, Offline: p.req.Offline, Prune: p.req.PruneProviders, Others: p.req.otherPlatforms(), Own: slices.Contains(p.req.Platforms, addrs.CurrentPlatform()),
		Installed: p.providersPath(), Refuse: s.refuse, OnEvent: events.emit,
	}
	for _, text := range p.req.Update.Providers {
		provider, err := p.Dialect.Parser().ParseProviderSource(text)
		if err != nil {
			return nil, err
		}
		s.stage.Update.Providers = append(s.stage.Update.Providers, provider)
	}
	stores := pool.storesOf(p.req, events)
	s.stage.Offers, s.stage.Stores, s.stage.OffersKey = stores.Offers(), stores.Evidence(), stores.Key()
	s.stage.Requirements.Unmanaged = p.req.Unmanaged
	s.required.Requirements = &s.stage.Requirements
	s.stage.Open()
	return s, nil
}

func (s *providerStage) refuse(all []treeproviders.Refusal) error {
	var reasons []LockedReason
	for _, r := range all {
		reasons = append(reasons, LockedReason{Provider: r.Provider, Range: r.Range, Reason: r.Reason})
	}
	return lockedError(s.lock.req.lockFile(), reasons)
}

// close cancels requests whose results are not needed, and waits for their end.
func (s *providerStage) close() {
	if s != nil {
		s.stop()
		s.stage.Wait()
	}
}

// require returns the function that a walk calls with the configuration of each module.
func (s *providerStage) require() func(*module, config.Module) {
	if s == nil {
		return nil
	}
	return s.required.add
}

// warnOfDialect warns if the dialect was not certain and a provider depends on it.
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
			if w := s.assumedDialect("provider "+use.Provider.Namespace+"/"+use.Provider.Type, use.Range); w.Message != "" {
				s.events.emit(w)
			}
			return
		}
	}
}

func (s *providerStage) lacksFiles() bool { return s != nil && len(s.required.failures.Errs()) > 0 }

// check returns the errors about the providers that are known to be required, for a run that has failed
// already. It sends no requests and waits for none.
func (s *providerStage) check(ctx context.Context) error {
	if s == nil {
		return nil
	}
	required, err := s.required.pool()
	for wrong := range ProviderErrors(err) {
		required = slices.DeleteFunc(required, func(p treeproviders.Required) bool { return p.Address == wrong.Provider })
	}
	return join(err, s.stage.Check(ctx, required))
}

// finish selects, gets and checks all providers. Nothing in the project is changed yet.
func (s *providerStage) finish(ctx context.Context) (*providerPlan, error) {
	if s == nil {
		return nil, nil
	}
	for _, w := range s.required.warnings {
		s.events.emit(w)
	}
	required, err := s.required.pool()
	if err != nil {
		return nil, s.check(ctx)
	}
	plan, err := s.stage.Finish(ctx, required)
	if err != nil {
		return nil, err
	}
	return &providerPlan{stage: s, Plan: plan}, nil
}

// providerPlan is the planned change of a project's providers; nil for a run that does not touch them.
type providerPlan struct {
	*treeproviders.Plan
	stage *providerStage
}

// changesLockOfModules reports whether the lock that has the modules changes.
func (p *providerPlan) changesLockOfModules() bool {
	return p != nil && p.stage.lock.hasModules && len(p.Changes) > 0
}

// install puts the packages into their directories, and adds those that were downloaded again to the result.
func (p *providerPlan) install(ctx context.Context, result *Result) error {
	if p == nil || !p.stage.req.installs() {
		return nil
	}
	req := p.stage.req
	refetched, err := p.Plan.Install(ctx, p.stage.providersPath(), req.dir(), p.stage.providerLayout(), func(placed treeproviders.Installed) {
		dir, proven := providerDir(req, placed.Planned), placed.Got.Authentication
		if placed.Unexplained {
			p.stage.events.emit(event.UnexpectedFiles{Provider: placed.Address, Files: placed.Files, Replaced: true})
			p.stage.events.emit(event.Warning{Message: fmt.Sprintf("%s did not match the lock and was replaced%s", dir, listed(placed.Files)), Kind: event.WarningRestored})
		}
		if placed.IsNew {
			p.stage.events.emit(event.ProviderInstalled{Provider: placed.Address, Version: placed.Version, Dir: dir, KeyID: proven.KeyID, Key: proven.Key, Evidence: proven.Evidence, Replaced: placed.Unexplained})
		}
	})
	for _, again := range refetched {
		result.Refetched = append(result.Refetched, Refetched{Package: again.Got.Location, Provider: again.Address, Bytes: again.Got.Bytes})
	}
	return err
}

// providerLayout returns how provider packages are installed. Terraform writes to packages whose hash is not in
// the lock, also through a link to the user's cache. OpenTofu does not.
func (p *openProject) providerLayout() store.Layout {
	switch {
	case p.req.Layout == LayoutCopy:
		return store.LayoutCopy
	case p.req.Layout == LayoutPortable, p.mayUseTerraform():
		return store.LayoutOwn
	}
	return store.LayoutLink
}

func providerDir(req request, p treeproviders.Planned) string {
	return path.Join(filepath.ToSlash(req.dataDir()), "providers", p.At())
}

func (p *providerPlan) describe(result *Result) {
	if p == nil {
		return
	}
	for _, change := range p.Changes {
		if p.stage.req.NoLock {
			break
		}
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
			Dir: providerDir(p.stage.req, planned), RequiredBy: planned.Uses,
			KeyID: proven.KeyID, Key: proven.Key, Evidence: proven.Evidence,
		})
	}
}

// writeOwnLock writes the lock that has the providers, unless the modules are in it too.
func (p *providerPlan) writeOwnLock(ctx context.Context) error {
	if p == nil || p.stage.lock.hasModules {
		return nil
	}
	return p.writeLock(ctx, nil)
}

// writeLock writes the lock that has the providers, if it changes. For a lock that is no file, it sets the
// content in the result.
func (p *providerPlan) writeLock(ctx context.Context, result *Result) error {
	s := p.stage
	merged := s.lock.hasModules && s.merge.done
	if s.req.NoLock || s.req.DryRun && s.req.hasLockFile() || len(p.Changes) == 0 && !merged {
		return nil
	}
	lock := s.lock.Clone()
	lock.NameTool(s.Dialect.String())
	lock.SetHeader(s.req.LockHeader)
	p.WriteTo(lock)
	if err := lock.Check(); err != nil {
		return err
	}
	if merged {
		s.merge.warn(s.events, s.req.lockFile(), lock)
	}
	if !s.req.hasLockFile() {
		result.LockContent = lock.Bytes()
		return nil
	}
	report := lockWritten(ctx, s.lock.req.Project, s.events, s.lock.src == nil)
	if err := project.WriteLock(s.lock.req.location(), s.lock.src, lock.Bytes()); err != nil {
		return err
	}
	report()
	return nil
}

func (p *openProject) providersPath() string { return filepath.Join(p.req.dataPath(), "providers") }

// hasProviders reports whether the project was installed with providers.
func (p *openProject) hasProviders() bool {
	return exists(p.providersPath())
}
