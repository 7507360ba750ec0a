package cotter

import (
	"context"
	"fmt"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/treeproviders"
	"github.com/cotterpin/cotter/versions"
)

// Outdated is a module call with the versions that are available for it.
type Outdated struct {
	Path   addrs.Module
	Call   ModuleCall
	Source addrs.ModuleSource
	// Current is the installed version, Allowed the newest version that meets the call's
	// constraint, and Latest the newest stable version. Allowed and Latest ignore versions
	// that are too young for the request's policies. "" means that there is no such
	// version.
	Current, Allowed, Latest string
	// Pin is set if the source address of the call names a version tag. Then Allowed equals
	// Current, because another tag would be a change of the configuration.
	Pin *Pin
}

// Outdated compares the installed versions with the versions that registries and
// repositories offer. It covers every call whose source has versions, and every pin in the
// project's own modules, sorted by path. The modules must be installed, and nothing is
// changed. If an origin does not answer, the error contains a *ModuleError for the call;
// the other calls are still returned.
func (in *Installer) Outdated(ctx context.Context, req Request) (_ []Outdated, err error) {
	p, err := openToAsk(ctx, in, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, p.close()) }()
	modules, failures, err := p.installedTree(ctx)
	if err != nil {
		return nil, err
	}
	s := p.newSelector()
	found := make([]*Outdated, len(modules))
	var wait sync.WaitGroup
	for i, m := range modules {
		wait.Go(func() {
			var err error
			if found[i], err = s.outdated(ctx, p.reading, m); err != nil {
				failures.addCall(m.call, err)
			}
		})
	}
	wait.Wait()
	var list []Outdated
	for _, o := range found {
		if o != nil {
			list = append(list, *o)
		}
	}
	return list, failures.join()
}

// outdated compares the installed version of a module with the available ones. It returns
// nil if the module's source has no versions and no pin.
func (s *selector) outdated(ctx context.Context, p *reading, m *module) (*Outdated, error) {
	shown := m.result(p.req.KeepCredentials)
	o := &Outdated{Path: shown.Path, Call: shown.Call, Source: shown.Source}
	switch {
	case m.call.own() && !m.call.from.SelectsVersion():
		pin, err := s.pin(ctx, m.call, p.req.KeepCredentials)
		if pin == nil || err != nil {
			return nil, err
		}
		o.Current, o.Allowed, o.Latest, o.Pin = pin.Version, pin.Version, pin.LatestVersion, pin
		return o, nil
	case !m.ownsPackage() || !m.call.from.SelectsVersion():
		return nil, nil
	}
	offered, err := s.offered(ctx, m.call)
	if err != nil {
		return nil, err
	}
	p.addRecorded(m, &shown)
	old, _ := s.byAge(m.call, offered)
	o.Current, o.Allowed, o.Latest = shown.Version, newestOf(old, m.call.from.Want), newestOf(old, versions.Constraints{})
	return o, nil
}

// newestOf returns the newest version that meets the constraints, or "".
func newestOf(offered []versions.Candidate, want versions.Constraints) string {
	selected, err := versions.Select(offered, want)
	if err != nil {
		return ""
	}
	return selected.Version.String()
}

// OutdatedProvider is a provider with the versions that are available for it.
type OutdatedProvider struct {
	Provider addrs.Provider
	// RequiredBy are the places that require the provider, and Constraints their combined
	// constraints.
	RequiredBy  []ProviderRequirement
	Constraints string
	// Current is the locked version, Allowed the newest version that all modules allow, and
	// Latest the newest stable version. "" means that there is no such version.
	Current, Allowed, Latest string
}

// OutdatedProviders compares the locked versions of the providers with the versions that
// their sources offer. The result is in the order of the lock. The modules must be
// installed, and nothing is changed. If a source does not answer, the error contains a
// *[ProviderError] for the provider; the other providers are still returned.
func (in *Installer) OutdatedProviders(ctx context.Context, req Request) (_ []OutdatedProvider, err error) {
	p, err := openToAsk(ctx, in, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, p.close()) }()
	required, err := p.requiredProviders(ctx)
	if err != nil {
		return nil, err
	}
	if req.Offline {
		return nil, fmt.Errorf("the versions of providers are not known: %w", ErrOffline)
	}
	lock, err := p.providerLock()
	if err != nil {
		return nil, err
	}
	found, failures := make([]OutdatedProvider, len(required)), make([]error, len(required))
	var wait sync.WaitGroup
	for i, r := range required {
		wait.Go(func() { found[i], failures[i] = p.outdatedProvider(ctx, r, lock) })
	}
	wait.Wait()
	return found, join(failures...)
}

// outdatedProvider compares the locked version of a provider with the available ones.
func (q *inquiry) outdatedProvider(ctx context.Context, r treeproviders.Required, lock *providerLock) (OutdatedProvider, error) {
	entry, _ := lock.Provider(r.Address)
	o := OutdatedProvider{Provider: r.Address, RequiredBy: r.Uses, Constraints: r.Want.String(), Current: entry.Version}
	if err := q.rules.CheckProvider(r.Address); err != nil {
		return o, r.Fail("", err)
	}
	listing, err := q.session.providers.Listing(ctx, q.rules, q.req.ProviderSource, q.req.dir(), r.Address)
	if err != nil {
		return o, r.Fail("", err)
	}
	o.Allowed, o.Latest = treeproviders.Newest(listing, r.Want), treeproviders.Newest(listing, versions.ProviderConstraints{})
	return o, nil
}
