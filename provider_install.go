package cotter

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/internal/userkey"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

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
func (in *Installer) providersAlone(ctx context.Context, req Request, config ConfigReader, key *userkey.Key, shared *session, events *events) (*Result, error) {
	if shared != nil {
		return in.installProviders(ctx, req, config, shared, events)
	}
	session, done, err := in.sharedSession(key)
	if err != nil {
		return nil, err
	}
	defer done()
	session.warnOfCache(events)
	return in.installProviders(ctx, req, config, session, events)
}

// installProviders is InstallProviders as part of a session.
func (in *Installer) installProviders(ctx context.Context, req Request, config ConfigReader, session *session, events *events) (_ *Result, err error) {
	p, err := viewWith(ctx, req, session.key)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if p.rules, err = req.readRules(); err != nil {
		return nil, err
	}
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
	return result, plan.commit(ctx)
}

// providerStage finds, gets and checks the providers of one project, while its modules
// are walked and after that.
type providerStage struct {
	*openProject
	lock     *providerLock
	session  *session
	stores   []storeID
	events   *events
	required requirements
	selector *providerSelector
	getter   *providers.Getter
	// prefetches are what is asked for while modules are walked. stop cancels what is not
	// needed of it.
	prefetches sync.WaitGroup
	stop       func()
}

// newProviderStage returns a stage with nothing required. What its requirements are
// told later is asked for at once. It must be closed.
func newProviderStage(ctx context.Context, p *openProject, session *session, events *events) (*providerStage, error) {
	lock, err := p.providerLock()
	if err != nil {
		return nil, err
	}
	s := &providerStage{openProject: p, lock: lock, session: session, stores: session.storesOf(p.req), events: events}
	s.selector = &providerSelector{
		session: session, lock: lock.File, update: p.req.Update, rules: p.rules,
		locked: p.req.Locked, offline: p.req.Offline, events: events,
	}
	for _, text := range p.req.Update.Providers {
		provider, err := p.dialect.parser().ParseProviderSource(text)
		if err != nil {
			return nil, err
		}
		s.selector.updated = append(s.selector.updated, provider)
	}
	s.getter = &providers.Getter{
		Offers: session.offers(s.stores, p.req.Offline),
		Source: session.providers, Slots: &session.providerSlots, Store: session.providerStore(), PluginCache: session.pluginCache, Offline: p.req.Offline,
		Accept: p.rules.CheckAuthentication, OnEvent: s.tell,
	}
	ctx, s.stop = session.ahead(ctx)
	s.required.ask = func(use ProviderUse) { s.prefetch(ctx, use) }
	return s, nil
}

// close cancels what was prefetched and is not needed, and waits for its end. The stage
// may be nil.
func (s *providerStage) close() {
	if s != nil {
		s.stop()
		s.prefetches.Wait()
	}
}

// require returns the function that a walk tells what each module requires; nil if the
// stage is.
func (s *providerStage) require() func(addrs.Module, ModuleConfig) {
	if s == nil {
		return nil
	}
	return s.required.add
}

// finish selects, gets and checks all providers. Nothing in the project is changed yet.
// The plan is nil if the stage is, in a run that leaves providers alone.
func (s *providerStage) finish(ctx context.Context) (*providerPlan, error) {
	if s == nil {
		return nil, nil
	}
	for _, w := range s.required.warnings {
		s.events.warn(w.path, diagnosticText(w.diag))
	}
	required, err := s.required.pool()
	if err != nil {
		return nil, err
	}
	required, gone, err := s.withUnrequired(ctx, required)
	if err != nil {
		return nil, err
	}
	selected, refused, err := s.selector.selectAll(ctx, required)
	if err := errors.Join(refused.err(s.lock.req.lockFile()), err); err != nil {
		return nil, err
	}
	plan := &providerPlan{stage: s, gone: gone, providers: make([]plannedProvider, len(selected))}
	err = sideBySide(selected, func(i int, p selectedProvider) (err error) {
		plan.providers[i], err = s.get(ctx, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return plan, plan.planLock()
}

// plannedProvider is a provider whose package is at hand and checked.
type plannedProvider struct {
	selectedProvider
	got *providers.Got
	// hashes are those of the package and of those for the other platforms.
	hashes []hashing.Hash
	// notLocked are the other platforms of whose packages the lock has no hash.
	notLocked []addrs.Platform
}

// get gets the package of a provider for this machine, and beside it the hashes of those
// for the other platforms that the request names.
func (s *providerStage) get(ctx context.Context, p selectedProvider) (plannedProvider, error) {
	planned := plannedProvider{selectedProvider: p}
	others := make([]*providers.Proof, len(s.req.Providers.others()))
	err := sideBySide([]func() error{
		func() (err error) {
			planned.got, err = s.getOwn(ctx, p)
			return err
		},
		func() error {
			return sideBySide(s.req.Providers.others(), func(i int, platform addrs.Platform) (err error) {
				others[i], err = s.getHashes(ctx, p, platform)
				return err
			})
		},
	}, func(_ int, work func() error) error { return work() })
	if err != nil {
		return plannedProvider{}, err
	}
	for i, other := range others {
		planned.hashes = append(planned.hashes, other.Hashes...)
		if other.Matched == "" {
			planned.notLocked = append(planned.notLocked, s.req.Providers.others()[i])
		}
	}
	planned.hashes = append(planned.hashes, planned.got.Hashes...)
	return planned, nil
}

// getOwn gets the package of a provider for this machine. It is asked for once, whichever
// projects need it, but the policies of each are applied.
func (s *providerStage) getOwn(ctx context.Context, p selectedProvider) (*providers.Got, error) {
	want := p.wanted(addrs.CurrentPlatform())
	got, err := s.packageOf(ctx, want)
	if err == nil {
		err = s.rules.CheckAuthentication(got.Authentication)
	}
	if err != nil {
		return nil, s.fail(ctx, p, want.Platform, err)
	}
	warnings := got.Authentication.Warnings
	if weak := got.Authentication.Weak; weak != "" && got.Asked {
		warnings = append(slices.Clone(warnings), weak+"; the policy allows that")
	}
	for _, text := range warnings {
		s.events.warn(nil, fmt.Sprintf("provider %s %s: %s", p.address.ForDisplay(), p.version, text))
	}
	return got, nil
}

// packageOf gets a package once in a session.
func (s *providerStage) packageOf(ctx context.Context, want providers.Want) (*providers.Got, error) {
	key := keyOf(want)
	key.stores = fmt.Sprint(s.stores)
	return s.session.providerPackages.Do(ctx, key, func(ctx context.Context) (*providers.Got, error) {
		return s.getter.Get(ctx, want)
	})
}

// getHashes gets the hashes of a provider's package for another platform.
func (s *providerStage) getHashes(ctx context.Context, p selectedProvider, platform addrs.Platform) (*providers.Proof, error) {
	want := p.wanted(platform)
	proof, err := s.session.providerHashes.Do(ctx, keyOf(want), func(ctx context.Context) (*providers.Proof, error) {
		return s.getter.Hashes(ctx, want)
	})
	if err == nil {
		err = s.rules.CheckAuthentication(proof.Authentication)
	}
	if err != nil {
		return nil, s.fail(ctx, p, platform, fmt.Errorf("for %s: %w", platform, err))
	}
	return proof, nil
}

// wanted is the package of a provider for a platform, with what the lock has of it.
func (p selectedProvider) wanted(platform addrs.Platform) providers.Want {
	return providers.Want{Provider: p.address, Version: p.version, Platform: platform, Locked: p.entry.Hashes}
}

// providerKey is what makes two packages of providers the same.
type providerKey struct {
	provider addrs.Provider
	version  versions.Version
	platform addrs.Platform
	locked   string // the lock's hashes
	stores   string // the numbers of those that are asked first
}

func keyOf(want providers.Want) providerKey {
	var locked strings.Builder
	for _, h := range want.Locked {
		locked.WriteString(string(h) + "\n")
	}
	return providerKey{want.Provider, want.Version, want.Platform, locked.String(), ""}
}

// fail is err as that of a provider's package for a platform.
func (s *providerStage) fail(ctx context.Context, p selectedProvider, platform addrs.Platform, err error) error {
	if errors.Is(err, providers.ErrNotAtHand) {
		err = fmt.Errorf("its package is not in the cache: %w", ErrOffline)
	} else {
		err = s.selector.explainPackage(ctx, p, platform, err)
	}
	return p.fail(p.version.String(), err)
}

// tell passes on what happens to packages.
func (s *providerStage) tell(e providers.Event) {
	about := ProviderProgress{Provider: e.Want.Provider, Version: e.Want.Version.String(), Platform: e.Want.Platform, Done: e.Done, Total: max(e.Total, 0), Stored: e.Stored}
	switch e.Kind {
	case providers.Downloading, providers.Unpacking:
		about.Unpacking = e.Kind == providers.Unpacking
		s.events.emit(about)
	case providers.Waiting:
		s.events.emit(WaitingForFetch{Package: e.Location})
	case providers.Refused:
		s.events.warn(nil, fmt.Sprintf("provider %s %s: %s", about.Provider.ForDisplay(), about.Version, e.Err))
	case providers.Distrusted:
		if !errors.Is(e.Err, ErrDeliversOnly) {
			s.events.warn(nil, distrusted(e.Location, e.Err))
		}
	case providers.Damaged:
		s.events.warn(nil, fmt.Sprintf("the package of provider %s %s in the cache was damaged, and is fetched again", about.Provider.ForDisplay(), about.Version))
	}
}

// providerPlan is what is to become of the providers of a project.
type providerPlan struct {
	stage     *providerStage
	providers []plannedProvider
	// entries are those of the lock as it is to be, gone are the providers without one,
	// and changes say how it differs.
	entries []lockfile.Provider
	gone    []addrs.Provider
	changes []ProviderChange
}

// planLock derives the lock's entries. As with stock tools the text of constraints
// alone is no reason to write the lock, and hashes alone are none to refuse it where it
// may not change.
func (p *providerPlan) planLock() error {
	var refused refusals
	for _, provider := range p.providers {
		entry := provider.lockEntry()
		p.entries = append(p.entries, entry)
		old, _ := p.stage.lock.Provider(provider.address)
		change := ProviderChange{Provider: provider.address, Old: old.Version, New: entry.Version, Hashes: len(entry.Hashes) - len(provider.entry.Hashes)}
		switch {
		case change.Old == change.New && change.Hashes == 0:
		case p.stage.req.Locked && slices.Contains(provider.entry.Hashes, provider.got.H1):
		case p.stage.req.Locked:
			p.stage.events.warn(nil, fmt.Sprintf("the lock has no h1: hash of provider %s %s for %s, so tofu and terraform will download it again; the package was checked by another hash of the lock",
				provider.address.ForDisplay(), entry.Version, addrs.CurrentPlatform()))
		default:
			p.changes = append(p.changes, change)
		}
	}
	for _, provider := range p.providers {
		for _, platform := range provider.notLocked {
			refused.reasons = append(refused.reasons, provider.platformReason(platform))
		}
	}
	for _, address := range p.gone {
		old, _ := p.stage.lock.Provider(address)
		p.changes = append(p.changes, ProviderChange{Provider: address, Old: old.Version})
		refused.reasons = append(refused.reasons, LockedReason{Provider: address, Reason: "the lock has an entry for it, and no module requires it"})
	}
	slices.SortFunc(p.changes, func(a, b ProviderChange) int { return a.Provider.Compare(b.Provider) })
	if p.stage.req.Locked {
		return refused.err(p.stage.lock.req.lockFile())
	}
	return nil
}

// lockEntry is what the lock is to have of a provider.
func (p plannedProvider) lockEntry() lockfile.Provider {
	return p.entry.Merge(lockfile.Provider{
		Address: p.address, Version: p.version.String(), Constraints: p.want.String(), Hashes: p.hashes,
	})
}

// writeTo makes the changes in a lock that is not written yet.
func (p *providerPlan) writeTo(lock *lockfile.File) {
	for _, entry := range p.entries {
		lock.SetProvider(entry)
	}
	for _, address := range p.gone {
		lock.RemoveProvider(address)
	}
}

// changesLockOfModules reports whether the lock that has the modules has to be written
// for the providers.
func (p *providerPlan) changesLockOfModules() bool {
	return p != nil && p.stage.lock.hasModules && len(p.changes) > 0
}

// place puts the packages into their places, each by one rename. A package that is
// there already stays.
func (p *providerPlan) place(ctx context.Context) error {
	if p == nil || !p.stage.req.places() || len(p.providers) == 0 {
		return nil
	}
	s := p.stage
	dir, err := s.getter.Store.Dir(filepath.Join(s.req.dataPath(), "providers"))
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // the next run removes what is left
	layout := providerstore.LayoutLink
	if s.req.Layout == LayoutCopy {
		layout = providerstore.LayoutCopy
	}
	return sideBySide(p.providers, func(_ int, provider plannedProvider) error {
		at := provider.at()
		before := dir.Inspect(at, false)
		replaced, err := dir.Place(ctx, provider.got.Package, at, layout)
		if err != nil {
			return provider.fail(provider.version.String(), err)
		}
		if replaced != providerstore.Nothing {
			s.events.warn(nil, fmt.Sprintf("%s was not what the lock says, and was replaced", path.Join(filepath.ToSlash(s.req.dataDir()), "providers", at)))
		}
		if before.H1 != provider.got.H1 {
			s.events.emit(ProviderInstalled{Provider: provider.address, Version: provider.version.String(), Dir: provider.dir(s.req), KeyID: provider.got.Authentication.KeyID, Key: provider.got.Authentication.Key, Replaced: replaced != providerstore.Nothing})
		}
		return nil
	})
}

// at is where a package belongs below the directory of providers.
func (p plannedProvider) at() string {
	return providerstore.At(p.address, p.version, addrs.CurrentPlatform())
}

// dir is the directory of a package relative to the root module's.
func (p plannedProvider) dir(req Request) string {
	return path.Join(filepath.ToSlash(req.dataDir()), "providers", p.at())
}

// describe adds the providers to the result of a run.
func (p *providerPlan) describe(result *Result) {
	if p == nil {
		return
	}
	result.ProviderChanges = p.changes
	result.DialectMatters = result.DialectMatters || len(p.providers) > 0
	for i, provider := range p.providers {
		entry := p.entries[i]
		result.Providers = append(result.Providers, Provider{
			Address: entry.Address, Version: entry.Version, Constraints: entry.Constraints, Hashes: entry.Hashes,
			Dir: provider.dir(p.stage.req), RequiredBy: provider.uses, Location: provider.got.Location,
			KeyID: provider.got.Authentication.KeyID, Key: provider.got.Authentication.Key,
		})
	}
}

// commit places the packages and writes the lock, in a run that does not install
// modules.
func (p *providerPlan) commit(ctx context.Context) error {
	if err := p.place(ctx); err != nil {
		return err
	}
	return p.writeLock()
}

// writeLock writes the lock that has the providers, if it changes.
func (p *providerPlan) writeLock() error {
	s := p.stage
	if s.req.DryRun || len(p.changes) == 0 {
		return nil
	}
	lock := s.lock.Clone()
	lock.NameTool(s.dialect.String())
	p.writeTo(lock)
	if err := lock.Check(); err != nil {
		return err
	}
	if err := project.WriteLock(s.lock.req.location(), s.lock.src, lock.Bytes()); err != nil {
		return err
	}
	s.events.emit(LockFileWritten{File: s.lock.req.lockFile(), Created: s.lock.src == nil})
	return nil
}
