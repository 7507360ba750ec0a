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
	// Old and New are the entries; nil if a lock has none.
	Old, New *Module
}

// OtherContent reports whether something else goes by the same name: two entries with
// the same source and version have hashes of the same scheme that differ.
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
	// Old and New are the entries; nil if a lock has none.
	Old, New *Provider
}

// NoCommonHash reports whether two entries with the same version have hashes and none
// of them in common: the packages have other content, or are for other platforms.
func (c ProviderChange) NoCommonHash() bool {
	return c.Old != nil && c.New != nil && c.Old.Version == c.New.Version && len(c.Old.Hashes) > 0 && len(c.New.Hashes) > 0 &&
		!slices.ContainsFunc(c.Old.Hashes, func(h hashing.Hash) bool { return slices.Contains(c.New.Hashes, h) })
}

// Hashes returns how many hashes only the new entry has, and how many only the old one.
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

// Compare returns what differs between two locks: modules sorted by key, and providers
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
