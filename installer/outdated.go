package installer

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/internal/provider/treeproviders"
	"github.com/cotterpin/cotter/versions"
)

// Outdated has the available versions of a project's modules and providers.
type Outdated struct {
	// Modules are the calls whose sources have versions, and the pins in the project's own modules.
	Modules   []OutdatedModule
	Providers []OutdatedProvider // the required providers, if the scope has providers
}

// OutdatedModule is a module call with the versions that are available for it.
type OutdatedModule struct {
	Path   addrs.Module
	Call   config.Call
	Source addrs.ModuleSource
	// Current is the installed version, Allowed the newest that meets the call's constraint, and Latest the
	// newest stable one. Allowed and Latest ignore versions that are too young for the project's policies.
	Current, Allowed, Latest versions.Version
	// Available are the versions that the source offers, in its order. It is empty if Pin is set.
	Available []versions.Version
	// Pin is set if the source address of the call, and not cotter.hcl, names a version tag. Then Allowed
	// equals Current, because another tag would be a change of the configuration.
	Pin *Pin
}

// UnmarshalJSON reads what package encoding/json writes.
func (m *OutdatedModule) UnmarshalJSON(text []byte) error {
	type fields OutdatedModule // without this method
	read := struct {
		*fields
		Source addrs.ModuleSourceText
	}{fields: (*fields)(m)}
	err := json.Unmarshal(text, &read)
	m.Source = read.Source.ModuleSource
	return err
}

// OutdatedProvider is a provider with the versions that are available for it.
type OutdatedProvider struct {
	Provider addrs.Provider
	// RequiredBy are the places that require the provider, and Constraints their combined constraints.
	RequiredBy  []ProviderRequirement
	Constraints versions.ProviderConstraints
	// Current is the locked version, Allowed the newest that all modules allow, and Latest the newest stable
	// one. Allowed is zero if a module could not be read, which may have a constraint.
	Current, Allowed, Latest versions.Version
}

// Outdated compares the versions of modules, installed or else locked, and the locked versions of providers
// with those that their origins offer, as the scope says. If an origin does not answer, or a module is neither
// installed nor locked, the error contains a *[ModuleError] or a *[ProviderError], and the result has the others.
// If the directory has no configuration, as after a [Session], the calls are those of the lock; without one, the
// error is a *[MissingLockError].
func (in *Installer) Outdated(ctx context.Context, project Project, o OriginOptions) (_ *Outdated, err error) {
	defer ctxerr.Keep(ctx, &err)
	ctx, p, err := openToAsk(ctx, in, readingOf(project, o.Scope))
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, p.close()) }()
	required := newRequirements(p.req.Project)
	tree, err := p.installed(ctx, true, required.ifNeeded(o.Scope))
	if err != nil {
		return nil, err
	}
	complete := joinFailures(tree.Failures) == nil
	found := &Outdated{}
	var failed error
	var wait sync.WaitGroup
	if o.Scope.modules() {
		wait.Go(func() { found.Modules = p.outdatedModules(ctx, tree.Modules, tree.Failures) })
	}
	if o.Scope.providers() {
		wait.Go(func() { found.Providers, failed = p.outdatedProviders(ctx, required, complete, tree.FromLock) })
	}
	wait.Wait()
	return found, join(joinFailures(tree.Failures), failed)
}

func (q *inquiry) outdatedModules(ctx context.Context, modules []*module, failures *failures) []OutdatedModule {
	s := q.newSelector()
	found := make([]*OutdatedModule, len(modules))
	var wait sync.WaitGroup
	for i, m := range modules {
		wait.Go(func() {
			var err error
			if found[i], err = s.outdated(ctx, q.reading, m); err != nil {
				failures.AddCall(m.Call, err)
			}
		})
	}
	wait.Wait()
	var list []OutdatedModule
	for _, o := range found {
		if o != nil {
			list = append(list, *o)
		}
	}
	return list
}

// outdated returns nil if the module's source has no versions and no pin.
func (s *selector) outdated(ctx context.Context, p *reading, m *module) (*OutdatedModule, error) {
	shown := p.DescribeRecorded(m, p.req.KeepCredentials)
	o := &OutdatedModule{Path: shown.Path, Call: shown.Call, Source: shown.Source}
	switch {
	case m.Call.IsOwn() && !m.Call.From.SelectsVersion():
		pin, err := s.pin(ctx, m.Call, p.req.KeepCredentials)
		if pin == nil || err != nil {
			return nil, err
		}
		o.Current, o.Allowed, o.Latest, o.Pin = pin.Version, pin.Version, pin.LatestVersion, pin
		if m.Call.Replaced != nil {
			o.Pin = nil // the tag is in cotter.hcl
		}
		return o, nil
	case !m.OwnsPackage() || !m.Call.From.SelectsVersion():
		return nil, nil
	}
	offered, err := s.offered(ctx, m.Call)
	if err != nil {
		return nil, err
	}
	for _, candidate := range offered {
		o.Available = append(o.Available, candidate.Version)
	}
	old, _ := s.byAge(m.Call, offered)
	o.Current, o.Allowed, o.Latest = shown.Version, newestOf(old, m.Call.From.Want), newestOf(old, versions.Constraints{})
	return o, nil
}

// outdatedProviders gets complete if all requirements are known, and fromLock if the lock decides because some
// modules were not read.
func (q *inquiry) outdatedProviders(ctx context.Context, required *requirements, complete, fromLock bool) ([]OutdatedProvider, error) {
	if q.req.Offline {
		return nil, fmt.Errorf("the versions of providers are not known: %w", ErrOffline)
	}
	pooled, failed := required.pool()
	lock, err := q.providerLock()
	if err != nil {
		return nil, join(failed, err)
	}
	if fromLock {
		pooled = withLocked(pooled, lock)
	}
	found, failures := make([]OutdatedProvider, len(pooled)), make([]error, len(pooled))
	var wait sync.WaitGroup
	for i, r := range pooled {
		wait.Go(func() {
			if found[i], failures[i] = q.outdatedProvider(ctx, r, lock); !complete || failed != nil {
				found[i].Allowed = versions.Version{}
			}
		})
	}
	wait.Wait()
	return found, join(append([]error{failed}, failures...)...)
}

func (q *inquiry) outdatedProvider(ctx context.Context, r treeproviders.Required, lock *providerLock) (OutdatedProvider, error) {
	entry, _ := lock.Provider(r.Address)
	o := OutdatedProvider{Provider: r.Address, RequiredBy: r.Uses, Constraints: r.Want, Current: entry.Version}
	if err := q.rules.CheckProvider(r.Address); err != nil {
		return o, r.Fail(versions.Version{}, err)
	}
	listing, err := q.pool.providers.Listing(ctx, q.rules, q.req.ProviderSource, q.req.dir(), r)
	if err != nil {
		return o, r.Fail(versions.Version{}, err)
	}
	o.Allowed, o.Latest = treeproviders.Newest(listing, r.Want), treeproviders.Newest(listing, versions.ProviderConstraints{})
	return o, nil
}
