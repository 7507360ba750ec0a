package lockfile

import (
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
)

// ModuleChange is a module call whose entries in two locks differ.
type ModuleChange struct {
	Key string
	// Old and New are nil if that lock has no entry.
	Old, New *Module
}

// OtherContent reports whether two entries with the same source and version have different hashes of a
// scheme.
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
	// Old and New are nil if that lock has no entry.
	Old, New *Provider
}

// NoCommonHash reports whether two entries with the same version have hashes, but share none: the packages
// have different content, or are for different platforms.
func (c ProviderChange) NoCommonHash() bool {
	return c.Old != nil && c.New != nil && c.Old.Version == c.New.Version && len(c.Old.Hashes) > 0 && len(c.New.Hashes) > 0 &&
		!slices.ContainsFunc(c.Old.Hashes, func(h hashing.Hash) bool { return slices.Contains(c.New.Hashes, h) })
}

// Hashes returns the hashes that only the new entry has, and that only the old one has. There are none if one of
// the entries does not exist.
func (c ProviderChange) Hashes() (added, removed []hashing.Hash) {
	if c.Old == nil || c.New == nil {
		return nil, nil
	}
	only := func(of, in *Provider) []hashing.Hash {
		return slices.DeleteFunc(uniqueHashes(of.Hashes), func(h hashing.Hash) bool { return slices.Contains(in.Hashes, h) })
	}
	return only(c.New, c.Old), only(c.Old, c.New)
}

// Compare returns the differences between two locks: modules by key, and providers in the order of
// [addrs.Provider.Compare]. A nil *File is a lock without entries.
func Compare(old, updated *File) (modules []ModuleChange, providers []ProviderChange) {
	old, updated = old.orEmpty(), updated.orEmpty()
	compareTables(&old.modules, &updated.modules, func(known *Module, old, updated *Module) {
		modules = append(modules, ModuleChange{Key: known.Key, Old: old, New: updated})
	})
	compareTables(&old.providers, &updated.providers, func(known *Provider, old, updated *Provider) {
		providers = append(providers, ProviderChange{Address: known.Address, Old: old, New: updated})
	})
	return modules, providers
}

// compareTables reports each value that is not equal in both tables, by key. A missing value is nil; known
// is one that is not.
func compareTables[V value[V]](old, updated *table[V], report func(known, old, updated V)) {
	var none V // nil
	for _, key := range union(old.entries, updated.entries) {
		before, had := old.get(key)
		after, has := updated.get(key)
		switch {
		case !had:
			report(after, none, after)
		case !has:
			report(before, before, none)
		case !before.equals(after):
			report(before, before, after)
		}
	}
}
