package treeproviders

import (
	"context"
	"fmt"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/lockfile"
)

// Plan is what is to become of the providers of a project.
type Plan struct {
	// Providers are those that are to be installed, in the order of the lock. Gone are
	// those that the lock is to lose, and Changes say how it differs.
	Providers []Planned
	Gone      []addrs.Provider
	Changes   []Change

	stage *Stage
}

// Change is a provider's entry of the lock that is to change.
type Change struct {
	Provider addrs.Provider
	// Old and New are versions. Old is "" for an entry that is added, New for one that is
	// removed.
	Old, New string
	// Hashes is how many hashes are added to an entry whose version stays.
	Hashes int
}

// planLock derives the lock's entries. As with stock tools the text of constraints
// alone is no reason to write the lock, and hashes alone are none to refuse it where it
// may not change.
func (p *Plan) planLock() error {
	var refused []Refusal
	for i := range p.Providers {
		provider := &p.Providers[i]
		provider.LockEntry = provider.Entry.Merge(lockfile.Provider{
			Address: provider.Address, Version: provider.Version.String(), Constraints: provider.Want.String(), Hashes: provider.hashes,
		})
		old, _ := p.stage.Lock.Provider(provider.Address)
		change := Change{Provider: provider.Address, Old: old.Version, New: provider.LockEntry.Version, Hashes: len(provider.LockEntry.Hashes) - len(provider.Entry.Hashes)}
		switch {
		case change.Old == change.New && change.Hashes == 0:
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

// WriteTo makes the changes in a lock that is not written yet.
func (p *Plan) WriteTo(lock *lockfile.File) {
	for _, provider := range p.Providers {
		lock.SetProvider(provider.LockEntry)
	}
	for _, address := range p.Gone {
		lock.RemoveProvider(address)
	}
}

// Place puts the packages into their places below a directory, each by one rename. A
// package that is there already stays. placed is told of each package whether it is new in
// its place, and whether something else was there.
func (p *Plan) Place(ctx context.Context, path string, layout providerstore.Layout, placed func(provider Planned, isNew, replaced bool)) error {
	if len(p.Providers) == 0 {
		return nil
	}
	dir, err := p.stage.getter.Store.Dir(path)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // the next run removes what is left
	return sideBySide(p.Providers, func(_ int, provider Planned) error {
		before := dir.Inspect(provider.At(), false)
		replaced, err := dir.Place(ctx, provider.Got.Package, provider.At(), layout)
		if err != nil {
			return provider.Fail(provider.Version.String(), err)
		}
		placed(provider, before.H1 != provider.Got.H1, replaced != providerstore.Nothing)
		return nil
	})
}

// At is where a package belongs below the directory of providers.
func (p Planned) At() string {
	return providerstore.At(p.Address, p.Version, addrs.CurrentPlatform())
}
