package cotter

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/lockfile"
)

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
