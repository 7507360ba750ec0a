package cotter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
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
	return &ProviderError{Provider: p.address, Version: version, RequiredBy: p.uses, Err: err}
}

// checkPolicy applies the policies to a provider.
func (p requiredProvider) checkPolicy(rules rules) error {
	if err := rules.checkProvider(p.address); err != nil {
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
	reason := LockedReason{Provider: p.address, Reason: "the lock has no h1: or zh: hash of it"}
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

// installedRequirements reads what the installed modules of a project require.
func (in *Installer) installedRequirements(ctx context.Context, p *openProject, config ConfigReader, required *requirements) ([]*module, error) {
	w := &walker{
		config: config, dialect: p.dialect, place: p.placeRecorded, parallel: in.parallel(), require: required.add,
		warn: func(addrs.Module, *hcl.Diagnostic) {}, // Install warns
	}
	modules, failures := w.walk(ctx, p.req.dir())
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return modules, failures.join()
}
