package lockfile

import (
	"maps"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
)

// ModuleChange is a module call whose entries in two locks differ.
type ModuleChange struct {
	Key string
	// Old and New are the entries; nil if a lock has no entry.
	Old, New *Module
}

// OtherContent reports whether the content changed under the same name: two entries with
// the same source and version have different hashes of the same scheme.
func (c ModuleChange) OtherContent() bool {
	return c.Old != nil && c.New != nil && c.Old.Source == c.New.Source && c.Old.Version == c.New.Version &&
		slices.ContainsFunc(c.Old.Hashes, func(h hashing.Hash) bool {
			other := c.New.Hash(h.Scheme())
			return other != "" && other != h
		})
}

// ProviderChange is a provider whose entries in two locks differ.
type ProviderChange struct {
	Address addrs.Provider
	// Old and New are the entries; nil if a lock has no entry.
	Old, New *Provider
}

// NoCommonHash reports whether two entries with the same version both have hashes, but
// share none. Then the packages have different content, or are for different platforms.
func (c ProviderChange) NoCommonHash() bool {
	return c.Old != nil && c.New != nil && c.Old.Version == c.New.Version && len(c.Old.Hashes) > 0 && len(c.New.Hashes) > 0 &&
		!slices.ContainsFunc(c.Old.Hashes, func(h hashing.Hash) bool { return slices.Contains(c.New.Hashes, h) })
}

// Hashes returns the number of hashes that only the new entry has, and of those that only
// the old one has.
func (c ProviderChange) Hashes() (added, removed int) {
	if c.Old == nil || c.New == nil {
		return 0, 0
	}
	count := func(of, in *Provider) (n int) {
		for _, h := range uniqueHashes(of.Hashes) {
			if !slices.Contains(in.Hashes, h) {
				n++
			}
		}
		return n
	}
	return count(c.New, c.Old), count(c.Old, c.New)
}

// Compare returns the differences between two locks: modules sorted by key, and providers
// in the order of addrs.Provider.Compare.
func Compare(old, updated *File) ([]ModuleChange, []ProviderChange) {
	keys := make(map[string]*ModuleChange)
	for _, m := range old.Modules() {
		keys[m.Key] = &ModuleChange{Key: m.Key, Old: &m}
	}
	for _, m := range updated.Modules() {
		if known := keys[m.Key]; known != nil {
			known.New = &m
			continue
		}
		keys[m.Key] = &ModuleChange{Key: m.Key, New: &m}
	}
	var modules []ModuleChange
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if c := keys[key]; c.Old == nil || c.New == nil || !c.Old.Equal(*c.New) {
			modules = append(modules, *c)
		}
	}
	return modules, compareProviders(old, updated)
}

func compareProviders(old, updated *File) []ProviderChange {
	addresses := make(map[addrs.Provider]*ProviderChange)
	for _, p := range old.Providers() {
		addresses[p.Address] = &ProviderChange{Address: p.Address, Old: &p}
	}
	for _, p := range updated.Providers() {
		if known := addresses[p.Address]; known != nil {
			known.New = &p
			continue
		}
		addresses[p.Address] = &ProviderChange{Address: p.Address, New: &p}
	}
	var providers []ProviderChange
	for _, address := range slices.SortedFunc(maps.Keys(addresses), addrs.Provider.Compare) {
		if c := addresses[address]; c.Old == nil || c.New == nil || !c.Old.Equal(*c.New) {
			providers = append(providers, *c)
		}
	}
	return providers
}
