package treeproviders

import (
	"context"
	"fmt"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/lockfile"
)

// Plan is the planned change of the providers of a project.
type Plan struct {
	// Providers are the providers to install, in the order of the lock. Gone are the providers
	// whose entries are to be removed from the lock. Changes are the differences between the old
	// and the new lock.
	Providers []Planned
	Gone      []addrs.Provider
	Changes   []Change

	stage *Stage
}

// Change is a planned change of a provider's lock entry.
type Change struct {
	Provider addrs.Provider
	// Old and New are versions. Old is "" if the entry is new, and New is "" if it is removed.
	Old, New string
	// Hashes is the number of hashes that are added to an entry whose version stays.
	Hashes int
	// From is the address in Terraform's registry under which the lock had the old version, if
	// OpenTofu has taken it over from there. Otherwise, it is zero.
	From addrs.Provider
	// ExcludedBy are the places whose constraints do not allow the old version.
	ExcludedBy []getproviders.ProviderUse
}

// planLock computes the lock's new entries. As with stock tools, a different constraint text
// alone does not cause the lock to be written, and additional hashes alone do not cause an error
// if the lock must not change.
func (p *Plan) planLock() error {
	var refused []Refusal
	for i := range p.Providers {
		provider := &p.Providers[i]
		provider.LockEntry = provider.Entry.Merge(lockfile.Provider{
			Address: provider.Address, Version: provider.Version.String(), Constraints: provider.Want.String(), Hashes: provider.hashes,
		})
		old, _ := p.stage.Lock.Provider(provider.Address)
		change := Change{
			Provider: provider.Address, Old: old.Version, New: provider.LockEntry.Version, From: old.From,
			Hashes: len(provider.LockEntry.Hashes) - len(provider.Entry.Hashes),
		}
		if change.Old != "" {
			change.ExcludedBy = provider.excluding(change.Old)
		}
		switch {
		case change.Old == change.New && change.Hashes == 0 && !old.IsTakenOver():
		case p.stage.Locked && slices.Contains(provider.Entry.Hashes, provider.Got.H1):
		case p.stage.Locked:
			p.stage.Warn(fmt.Sprintf("the lock has no h1: hash of provider %s %s for %s, so tofu and terraform will download it again; the package was checked by another hash of the lock",
				provider.Address.ForDisplay(), change.New, addrs.CurrentPlatform()))
		default:
			p.Changes = append(p.Changes, change)
		}
		for _, platform := range provider.notLocked {
			refused = append(refused, provider.refusal(fmt.Sprintf("the lock has no h1: or zh: hash of its package for %s", platform)))
		}
	}
	for _, address := range p.Gone {
		old, _ := p.stage.Lock.Provider(address)
		p.Changes = append(p.Changes, Change{Provider: address, Old: old.Version})
		refused = append(refused, Refusal{Provider: address, Reason: "the lock has an entry for it, but no module requires it"})
	}
	slices.SortFunc(p.Changes, func(a, b Change) int { return a.Provider.Compare(b.Provider) })
	if p.stage.Locked {
		return p.stage.Refuse(refused)
	}
	return nil
}

// WriteTo applies the changes to a lock in memory.
func (p *Plan) WriteTo(lock *lockfile.File) {
	for _, provider := range p.Providers {
		lock.SetProvider(provider.LockEntry)
	}
	for _, address := range p.Gone {
		lock.RemoveProvider(address)
	}
}

// Place moves the packages to their places below a directory, each with one rename. A package
// that is already in its place stays there. Place calls placed for each package: isNew reports
// whether the package was not there before, replaced whether something else was.
func (p *Plan) Place(ctx context.Context, path string, layout providerstore.Layout, placed func(provider Planned, isNew, replaced bool)) error {
	if len(p.Providers) == 0 {
		return nil
	}
	dir, err := p.stage.getter.Store.Dir(path)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // the next run removes leftovers
	return sideBySide(p.Providers, func(_ int, provider Planned) error {
		before := dir.Inspect(ctx, provider.At(), false)
		replaced, err := dir.Place(ctx, provider.Got.Package, provider.At(), layout)
		if err != nil {
			return provider.Fail(provider.Version.String(), err)
		}
		placed(provider, before.H1 != provider.Got.H1, replaced != providerstore.Nothing)
		return nil
	})
}

// At returns the path of a package below the directory of providers.
func (p Planned) At() string {
	return providerstore.At(p.Address, p.Version, addrs.CurrentPlatform())
}
