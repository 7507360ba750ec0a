package treeproviders

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

type Plan struct {
	// Providers are to be installed, in the order of the lock, and the entries of Gone to be removed from
	// it.
	Providers []Planned
	Gone      []addrs.Provider
	Changes   []Change

	stage *Stage
}

type Change struct {
	Provider addrs.Provider
	// Old is zero if the entry is new, and New if it is removed.
	Old, New versions.Version
	// Hashes is the number of hashes that are added to an entry whose version stays.
	Hashes int
	// Unproven are the platforms without a hash in the old entry of the same version.
	Unproven []addrs.Platform
	// Normalized says that hashes of the old entry of the same version are not sorted, are repeated, or
	// have a scheme that stock tools do not know. These rewrite such a lock.
	Normalized bool
	// From is the address in Terraform's registry from which OpenTofu has taken over the old version, if
	// any.
	From addrs.Provider
	// ExcludedBy are the places whose constraints do not allow the old version.
	ExcludedBy []config.ProviderRequirement
}

func (c Change) changes() bool {
	return c.Old != c.New || c.From != (addrs.Provider{}) || c.Hashes > 0 || c.Normalized
}

// planLock computes the new entries. As with stock tools, another constraint text alone is no reason to
// write the lock. If the lock must not change, more hashes and another order only cause a warning.
func (p *Plan) planLock() error {
	var refused []Refusal
	var lacking, unsorted, onePlatform []Required
	for i := range p.Providers {
		provider := &p.Providers[i]
		change := provider.plan(p.stage.Lock)
		switch {
		case !change.changes():
		case !p.stage.Locked:
			p.Changes = append(p.Changes, change)
			if change.Old != change.New && provider.isOnePlatform() {
				onePlatform = append(onePlatform, provider.Required)
			}
		case !slices.Contains(provider.Entry.Hashes, provider.Got.H1):
			p.stage.warn(fmt.Sprintf("the lock has no h1: hash of provider %s %s for %s, so tofu and terraform will download it again; the package was checked by another hash of the lock",
				provider.Address.ForDisplay(), change.New, addrs.CurrentPlatform()))
		case change.Hashes > 0:
			lacking = append(lacking, provider.Required)
		default:
			unsorted = append(unsorted, provider.Required)
		}
		for _, platform := range provider.notLocked {
			refused = append(refused, provider.refusal(fmt.Sprintf("the lock has no h1: or zh: hash of its package for %s", platform)))
		}
	}
	if len(lacking) > 0 {
		p.stage.warn("the lock lacks hashes of these providers, which an installation that may change it adds: " + namesOf(lacking))
	}
	if len(unsorted) > 0 {
		p.stage.warn(unsortedText(unsorted))
	}
	if len(onePlatform) > 0 && len(p.stage.Others) == 0 {
		p.stage.OnEvent(event.Warning{
			Kind:    event.WarningOnePlatform,
			Message: fmt.Sprintf("the lock has only hashes for %s of these providers, because their source confirms no others: %s", addrs.CurrentPlatform(), namesOf(onePlatform)),
		})
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

// UnsortedHashes returns a warning about hashes in a lock that stock tools would write differently, or "".
func UnsortedHashes(lock *lockfile.File) string {
	var unsorted []Required
	for _, entry := range lock.Providers() {
		if !lock.HasStockHashes(entry.Address) {
			unsorted = append(unsorted, Required{Address: entry.Address})
		}
	}
	if len(unsorted) == 0 {
		return ""
	}
	return unsortedText(unsorted)
}

func unsortedText(unsorted []Required) string {
	return "tofu and terraform will rewrite the lock, because hashes of these providers are not sorted, are repeated, or have an unknown scheme: " + namesOf(unsorted)
}

func (p *Planned) plan(lock Lock) Change {
	p.LockEntry = p.Entry.Merge(lockfile.Provider{
		Address: p.Address, Version: p.Version, Constraints: p.Want, Hashes: p.hashes,
	})
	old, _ := lock.Provider(p.Address)
	change := Change{Provider: p.Address, Old: old.Version, New: p.LockEntry.Version, From: old.From}
	if !change.Old.IsZero() {
		change.ExcludedBy = p.excluding(change.Old)
	}
	if change.Old != change.New {
		return change
	}
	for _, h := range p.LockEntry.Hashes {
		if !slices.Contains(old.Hashes, h) {
			change.Hashes++
		}
	}
	change.Unproven = slices.Clone(p.notLocked)
	if !proves(old.Hashes) {
		change.Unproven = append(change.Unproven, addrs.CurrentPlatform())
	}
	change.Normalized = !lock.HasStockHashes(p.Address)
	return change
}

// isOnePlatform reports whether a new entry has only the hashes of the package for this machine, although the release
// may have others.
func (p *Planned) isOnePlatform() bool {
	others := func(h hashing.Hash) bool { return h != p.Got.H1 && h != p.Got.Archive }
	confirmed := p.Got.Authentication.Hashes
	return p.Got.Incomplete == nil && !slices.ContainsFunc(p.hashes, others) &&
		(len(confirmed) == 0 || slices.ContainsFunc(confirmed, others))
}

func (p *Plan) WriteTo(lock *lockfile.File) {
	all := make([]lockfile.Provider, len(p.Providers))
	for i, provider := range p.Providers {
		all[i] = provider.LockEntry
	}
	lock.SetProviders(all)
}

type Installed struct {
	Planned
	IsNew bool
	// Unexplained says that other files, which no run of this user has installed, were replaced. Files is
	// how they differ, if known.
	Unexplained bool
	Files       hashing.Changes
}

// Install moves each package below a directory with one rename; one that is there stays. root is the
// directory of the root module. It returns the providers that were downloaded although they were there and
// did not depend on the store.
func (p *Plan) Install(ctx context.Context, name, root string, layout store.Layout, installed func(Installed)) (refetched []Planned, err error) {
	open := p.stage.getter.Store.Dir
	if len(p.Providers) == 0 {
		open = p.stage.getter.Store.ViewDir // the directory is not created
	}
	dir, err := open(name)
	if len(p.Providers) == 0 && err != nil {
		return nil, nil //nolint:nilerr // there is no directory, and nothing to install
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // the next run removes leftovers
	packages := make(map[string]hashing.Hash)
	for _, provider := range p.Providers {
		packages[provider.At()] = provider.Got.H1
	}
	earlier := dir.RecordInstall(root, packages)
	again := make([]bool, len(p.Providers))
	errs := inParallel(p.Providers, func(i int, provider Planned) error {
		at := provider.At()
		before := dir.Inspect(ctx, at, false)
		done := Installed{Planned: provider, IsNew: before.H1 != provider.Got.H1}
		// A link to nothing had no files that could differ. Its package was removed from the cache, or the cache is that of
		// another container.
		isGone := errors.Is(before.Err, fs.ErrNotExist)
		unexplained := !isGone && (done.IsNew && !earlier.Has(at, before.H1) || before.Err != nil)
		if unexplained && before.H1 != "" {
			done.Files = dir.Differences(ctx, provider.Got.Package, at)
		}
		replaced, err := dir.Install(ctx, provider.Got.Package, at, layout)
		if err != nil {
			return provider.Fail(provider.Version, err)
		}
		done.Unexplained = unexplained && replaced
		again[i] = !done.IsNew && !replaced && provider.Got.Bytes > 0 && !before.Stored
		installed(done)
		return nil
	})
	for i, provider := range p.Providers {
		if again[i] {
			refetched = append(refetched, provider)
		}
	}
	return refetched, errors.Join(errs...)
}

// Updates returns the providers whose versions differ from what the last run of this user installed below a
// directory, other than by a change of the lock in this run. Equal versions are another package.
func (p *Plan) Updates(name string) []Change {
	dir, err := p.stage.getter.Store.ViewDir(name)
	if err != nil {
		return nil // nothing was installed
	}
	defer func() { _ = dir.Close() }() // only reading
	earlier := dir.InstallRecord()
	was := make(map[addrs.Provider]Change)
	for _, at := range earlier.Last {
		address, text, platform := splitPath(at)
		provider, err := addrs.ParseProviderSource(address)
		version, wrong := versions.Parse(text)
		if err == nil && wrong == nil && platform == addrs.CurrentPlatform().String() {
			was[provider] = Change{Provider: provider, Old: version}
		}
	}
	for _, provider := range p.Providers {
		change, ok := was[provider.Address]
		change.New = provider.Version
		hashes := earlier.Hashes[provider.At()]
		if ok && change.Old == change.New && (len(hashes) == 0 || hashes[len(hashes)-1] == provider.Got.H1) {
			delete(was, provider.Address)
		} else if ok {
			was[provider.Address] = change
		}
	}
	for _, change := range p.Changes {
		delete(was, change.Provider)
	}
	return slices.SortedFunc(maps.Values(was), func(a, b Change) int { return a.Provider.Compare(b.Provider) })
}

func splitPath(at string) (provider, version, platform string) {
	at, platform = path.Split(at)
	at, version = path.Split(path.Clean(at))
	return path.Clean(at), version, platform
}

// At is the path below the directory of providers.
func (p Planned) At() string {
	return store.ProviderPath(p.Address, p.Version, addrs.CurrentPlatform())
}
