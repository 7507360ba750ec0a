package cotter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/internal/rules"
	"github.com/cotterpin/cotter/registryclient"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/localstate"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// requirements collects what the modules of a tree require of providers, while the
// tree is walked.
type requirements struct {
	// ask is called once for each provider, as soon as the first module requires it.
	ask func(ProviderUse)

	mu       sync.Mutex
	uses     map[addrs.Provider][]ProviderUse
	failures failures
	warnings []moduleWarning
}

// moduleWarning is a warning about a module's configuration.
type moduleWarning struct {
	path addrs.Module
	diag *hcl.Diagnostic
}

// add adds what one module requires. Built-in providers are part of the stock tool:
// there is nothing to install.
func (r *requirements) add(path addrs.Module, config ModuleConfig) {
	if config.ProviderDiagnostics.HasErrors() {
		r.failures.add(path, nil, &ConfigError{Path: path, Diagnostics: config.ProviderDiagnostics})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, diag := range config.ProviderDiagnostics {
		if diag.Severity != hcl.DiagError {
			r.warnings = append(r.warnings, moduleWarning{path, diag})
		}
	}
	for _, required := range config.Providers {
		if required.Provider.IsBuiltIn() {
			continue
		}
		if r.uses == nil {
			r.uses = make(map[addrs.Provider][]ProviderUse)
		}
		uses, known := r.uses[required.Provider]
		use := ProviderUse{Path: path, ProviderRequirement: required}
		r.uses[required.Provider] = append(uses, use)
		if !known && r.ask != nil {
			r.ask(use)
		}
	}
}

// requiredProvider is a provider with the constraints of all modules.
type requiredProvider struct {
	address addrs.Provider
	uses    []ProviderUse
	want    versions.ProviderConstraints
}

// pool returns the required providers in the order of the lock, and what is wrong with
// the requirements.
func (r *requirements) pool() ([]requiredProvider, error) {
	errs := r.failures.errs()
	var all []requiredProvider
	for _, address := range slices.SortedFunc(maps.Keys(r.uses), addrs.Provider.Compare) {
		p := requiredProvider{address: address, uses: distinctUses(slices.Clone(r.uses[address]))}
		for _, use := range p.uses {
			want, err := use.constraints()
			if err != nil {
				errs = append(errs, &ProviderError{Provider: address, RequiredBy: []ProviderUse{use}, Err: err})
				continue
			}
			p.want = p.want.And(want)
		}
		all = append(all, p)
	}
	return all, errors.Join(errs...)
}

// distinctUses sorts uses by module, file and line, and keeps of those that only imply
// a provider the first one of each module: a module may have hundreds.
func distinctUses(uses []ProviderUse) []ProviderUse {
	slices.SortStableFunc(uses, func(a, b ProviderUse) int {
		if c := compareKeys(a.Path.String(), b.Path.String()); c != 0 {
			return c
		}
		if c := strings.Compare(a.Range.Filename, b.Range.Filename); c != 0 {
			return c
		}
		return a.Range.Start.Byte - b.Range.Start.Byte
	})
	declared := make(map[string]bool)
	for _, use := range uses {
		if !use.Implied {
			declared[use.Path.String()] = true
		}
	}
	return slices.DeleteFunc(uses, func(use ProviderUse) bool {
		if !use.Implied || use.Constraint != "" {
			return false
		}
		shown := declared[use.Path.String()]
		declared[use.Path.String()] = true
		return shown
	})
}

// isLockedOnly reports whether nothing but the lock has the provider: no module and no
// state that is known.
func (p requiredProvider) isLockedOnly() bool { return len(p.uses) == 0 }

// fits reports whether a locked version is one that all modules allow.
func (p requiredProvider) fits(locked versions.Version) bool {
	return p.isLockedOnly() || p.want.Allows(locked)
}

// fail is what went wrong with a provider; version is "" if none was selected.
func (p requiredProvider) fail(version string, err error) error {
	return &ProviderError{Provider: p.address, Version: version, RequiredBy: p.uses, Err: p.withoutSubject(err)}
}

// detailError is an error with another text.
type detailError struct {
	text string
	err  error
}

func (e *detailError) Error() string { return e.text }
func (e *detailError) Unwrap() error { return e.err }

// withoutSubject is the error of a source with a text that does not name the provider,
// which a *[ProviderError] names.
func (p requiredProvider) withoutSubject(err error) error {
	var subject string
	if e, ok := errors.AsType[*registryclient.RequestError](err); ok && e.Provider == p.address {
		subject = e.Subject()
	} else if e, ok := errors.AsType[*getproviders.MirrorError](err); ok && e.Provider == p.address {
		subject = e.Subject()
	}
	if text := strings.Replace(err.Error(), subject+": ", "", 1); subject != "" {
		return &detailError{text, err}
	}
	return err
}

// checkPolicy applies the policies to a provider.
func (p requiredProvider) checkPolicy(rules rules.Rules) error {
	if err := rules.CheckProvider(p.address); err != nil {
		return p.fail("", err)
	}
	return nil
}

// lockedReason is the reason why the lock does not decide on a provider: it has no
// entry, or one that does not fit.
func (p requiredProvider) lockedReason(entry lockfile.Provider, has bool) LockedReason {
	reason := LockedReason{Provider: p.address, Reason: "the lock has no entry for it", Missing: !has}
	asks := p.uses
	if has {
		asks = slices.DeleteFunc(slices.Clone(p.uses), func(use ProviderUse) bool { return use.allows(entry.Version) })
		reason.Reason = fmt.Sprintf("the lock has version %s, and the configuration asks for %q", entry.Version, p.want)
	}
	if len(asks) > 0 {
		reason.Range = asks[0].Range
	}
	return reason
}

// unprovenReason is the reason why a fitting entry of the lock does not decide: it has no
// hash that can prove a package.
func (p requiredProvider) unprovenReason() LockedReason {
	return p.reason("the lock has no h1: or zh: hash of it")
}

// platformReason is the reason why an entry of the lock does not decide for a platform.
func (p requiredProvider) platformReason(platform addrs.Platform) LockedReason {
	return p.reason(fmt.Sprintf("the lock has no h1: or zh: hash of its package for %s", platform))
}

func (p requiredProvider) reason(text string) LockedReason {
	reason := LockedReason{Provider: p.address, Reason: text}
	if len(p.uses) > 0 {
		reason.Range = p.uses[0].Range
	}
	return reason
}

// allows reports whether a version meets the constraint of one place.
func (u ProviderUse) allows(version string) bool {
	v, err := versions.Parse(version)
	want, wrong := u.constraints()
	return err == nil && wrong == nil && want.Allows(v)
}

// constraints parses the constraint.
func (u ProviderUse) constraints() (versions.ProviderConstraints, error) {
	if u.Constraint == "" {
		return versions.ProviderConstraints{}, nil
	}
	return versions.ParseProviderConstraints(u.Constraint)
}

// unrequired are providers that no module requires and that may be needed all the same.
type unrequired struct {
	// inState are those that the state needs, as stock tools install them too.
	inState []requiredProvider
	// kept are those of the lock that stay, because another state may need them: why
	// says what is known of it. gone are those to be dropped from the lock.
	kept []requiredProvider
	gone []addrs.Provider
	why  string
}

// unrequired finds the providers of a project beside those that its modules require.
// The error is about an address in the state that stock tools refuse as well.
func (p *openProject) unrequired(ctx context.Context, lock *providerLock, required []requiredProvider, prune bool) (unrequired, error) {
	state, err := p.readState(ctx)
	if err != nil {
		return unrequired{}, err
	}
	found := unrequired{why: state.Unknown}
	needed := make(map[addrs.Provider]bool)
	for _, r := range required {
		needed[r.address] = true
	}
	for _, address := range state.Providers {
		if !needed[address] {
			needed[address] = true
			use := ProviderUse{ProviderRequirement: ProviderRequirement{Provider: address, Implied: true, By: "state " + state.File}}
			found.inState = append(found.inState, requiredProvider{address: address, uses: []ProviderUse{use}})
		}
	}
	for _, entry := range lock.Providers() {
		switch {
		case needed[entry.Address]:
		case prune || state.Unknown == "":
			found.gone = append(found.gone, entry.Address)
		default:
			found.kept = append(found.kept, requiredProvider{address: entry.Address})
		}
	}
	return found, nil
}

// withUnrequired adds to the required providers those that the state needs and those
// that stay in the lock, and returns the addresses of those to be dropped from it.
func (s *providerStage) withUnrequired(ctx context.Context, required []requiredProvider) (all []requiredProvider, gone []addrs.Provider, err error) {
	others, err := s.unrequired(ctx, s.lock, required, s.req.Providers.Prune)
	if err != nil {
		return nil, nil, err
	}
	if len(others.kept) > 0 {
		names := displayed(others.kept, func(p requiredProvider) string { return p.address.ForDisplay() })
		s.events.warn(nil, fmt.Sprintf("the lock has providers that no module requires; they stay, because the state may need them, and %s: %s", others.why, names))
	}
	return sortedProviders(required, others.inState, others.kept), others.gone, nil
}

// sortedProviders returns the providers of all lists in the order of the lock.
func sortedProviders(lists ...[]requiredProvider) []requiredProvider {
	return slices.SortedFunc(slices.Values(slices.Concat(lists...)), func(a, b requiredProvider) int { return a.address.Compare(b.address) })
}

// readState reads which providers the state in the project needs.
func (p *openProject) readState(ctx context.Context) (localstate.Needs, error) {
	workspace, err := p.req.workspace()
	if err != nil {
		workspace = "" // it is not known
	}
	return localstate.Read(ctx, localstate.Project{
		Dir: p.req.dir(), DataDir: p.req.dataPath(), Workspace: workspace,
		Terraform: p.dialect == DialectTerraform, Parser: p.dialect.parser(),
	})
}

// selectedProvider is a provider and the version of it that is to be installed.
type selectedProvider struct {
	requiredProvider
	version versions.Version
	// entry is the lock's entry; zero if there is none, or if it is for another
	// version.
	entry lockfile.Provider
}

// providerSelector selects one version of each provider for all modules together.
type providerSelector struct {
	session *session
	lock    *lockfile.File
	update  Update
	// updated are the providers that the request names for an update.
	updated []addrs.Provider
	rules   rules.Rules
	locked  bool
	offline bool
	events  *events
	// required are all providers, while they are selected.
	required []requiredProvider
}

// selectAll selects the versions of all providers side by side. Entries of the lock
// that do not decide are collected as reasons where the lock may not change. Nothing is
// asked if the request names a provider that is not required, or that a policy refuses.
func (s *providerSelector) selectAll(ctx context.Context, required []requiredProvider) ([]selectedProvider, *refusals, error) {
	s.required = required
	var refused refusals
	if err := s.check(); err != nil {
		return nil, &refused, err
	}
	selected := make([]selectedProvider, len(required))
	err := sideBySide(required, func(i int, p requiredProvider) (err error) {
		selected[i], err = s.selectOne(ctx, p, &refused)
		return err
	})
	return selected, &refused, err
}

// check checks what the request and the policies say of the required providers.
func (s *providerSelector) check() error {
	var errs []error
	for _, address := range s.updated {
		if !s.update.several && !slices.ContainsFunc(s.required, func(p requiredProvider) bool { return p.address == address }) {
			errs = append(errs, &ProviderError{Provider: address, Err: ErrNoSuchProvider})
		}
	}
	for _, p := range s.required {
		errs = append(errs, p.checkPolicy(s.rules))
	}
	return errors.Join(errs...)
}

// selectOne returns the locked version as long as it fits, and the newest one
// otherwise.
func (s *providerSelector) selectOne(ctx context.Context, p requiredProvider, refused *refusals) (selectedProvider, error) {
	entry, has := s.lock.Provider(p.address)
	locked, err := versions.Parse(entry.Version)
	fits := has && err == nil && p.fits(locked)
	if fits && s.locked && !proves(entry.Hashes) {
		return selectedProvider{}, refused.note(p.unprovenReason())
	}
	if fits && (s.locked || !s.moves(p)) {
		return selectedProvider{p, locked, entry}, nil
	}
	if s.locked {
		return selectedProvider{}, refused.note(p.lockedReason(entry, has))
	}
	listing, err := s.listing(ctx, p.address)
	if err != nil {
		return selectedProvider{}, p.fail("", s.explainListing(p, err))
	}
	for _, text := range listing.Warnings {
		s.events.warn(nil, fmt.Sprintf("provider %s: %s", p.address.ForDisplay(), text))
	}
	selected, err := versions.SelectProvider(listing.Numbers(), p.want)
	switch {
	case err != nil && len(listing.Versions) == 0:
		return selectedProvider{}, p.fail("", s.explainListing(p, fmt.Errorf("%w: %w", getproviders.ErrNotFound, err)))
	case err != nil:
		return selectedProvider{}, p.withAllowed(listing).fail("", err)
	case fits && selected.Compare(locked) < 0 && !s.update.AllowDowngrade:
		return selectedProvider{}, p.fail("", &DowngradeError{Locked: locked.String(), Selected: selected.String()})
	case selected != locked:
		entry = lockfile.Provider{}
	}
	return selectedProvider{p, selected, entry}, nil
}

// moves reports whether the newest version of a provider is to be selected, though the
// locked one fits. One that nothing but the lock has stays unless the request names it.
func (s *providerSelector) moves(p requiredProvider) bool {
	return s.updates(p.address) && (!p.isLockedOnly() || slices.Contains(s.updated, p.address))
}

// proves reports whether hashes of a lock can prove a package.
func proves(hashes []hashing.Hash) bool {
	return hasScheme(hashes, "h1") || hasScheme(hashes, "zh")
}

func hasScheme(hashes []hashing.Hash, scheme string) bool {
	return slices.ContainsFunc(hashes, func(h hashing.Hash) bool { return h.Scheme() == scheme })
}

// updates reports whether the newest version of a provider is to be selected, whatever
// the lock says.
func (s *providerSelector) updates(p addrs.Provider) bool {
	return s.update.All || slices.Contains(s.updated, p)
}

// listing returns the versions that there are of a provider. Its source is asked once.
func (s *providerSelector) listing(ctx context.Context, p addrs.Provider) (getproviders.Listing, error) {
	if s.offline {
		return getproviders.Listing{}, fmt.Errorf("its versions are not known: %w", ErrOffline)
	}
	return s.session.providerListings.Do(ctx, p, func(ctx context.Context) (getproviders.Listing, error) {
		return s.session.providers.Versions(ctx, p)
	})
}

// sideBySide runs work for all of a list at once, and joins what failed. What was
// refused has its reason elsewhere.
func sideBySide[T any](all []T, work func(int, T) error) error {
	errs := make([]error, len(all))
	var wait sync.WaitGroup
	for i, one := range all {
		wait.Go(func() {
			if err := work(i, one); !errors.Is(err, errRefused) {
				errs[i] = err
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}
