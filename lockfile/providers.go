package lockfile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
)

// Providers returns the locked providers in the order of [addrs.Provider.Compare], in which
// stock tools write them. Blocks with errors are not included, see [File.ProviderFaults].
func (f *File) Providers() []Provider {
	providers := make([]Provider, 0, len(f.providers))
	for _, e := range f.sortedProviders() {
		providers = append(providers, e.provider.normal())
	}
	return providers
}

// Provider returns the provider that is locked for an address, and whether there is one.
func (f *File) Provider(address addrs.Provider) (Provider, bool) {
	e, ok := f.providers[address]
	if !ok {
		return Provider{}, false
	}
	return e.provider.normal(), true
}

// SetProvider adds a provider or replaces the one with the same address. Setting an
// equal provider is a no-op. Values are checked by [File.Check]. A block with errors
// for the same address is not replaced; see [File.ProviderFaults].
func (f *File) SetProvider(p Provider) {
	if f.providers == nil {
		f.providers = map[addrs.Provider]*providerEntry{}
	}
	e := &providerEntry{provider: p.normal(), block: f.providerBy[p.Address]}
	if !e.changed() {
		e.provider.Range = e.block.provider.Range
	}
	f.providers[p.Address] = e
}

// SetProviders replaces all providers by those that an installation has selected, like the init
// of stock tools. If they have the addresses, the versions and the lists of hashes that were
// read, SetProviders does nothing: other constraints are no reason to write a lock. Otherwise
// all provider blocks are written as stock tools write them, so that their next init does not
// write the file again. It drops module blocks when it does.
//
// The order of blocks, their layout and the header are normalized only together with such a
// change. A comment above a block stays above it. A block that has a comment inside keeps its
// bytes if its values do not change.
func (f *File) SetProviders(all []Provider) {
	if f.hasProviders(all) {
		return
	}
	f.providers = make(map[addrs.Provider]*providerEntry, len(all))
	for _, p := range all {
		f.SetProvider(p)
	}
	f.rewritesProviders = true
}

// hasProviders reports whether stock tools would regard a list as equal to the providers that
// were read.
func (f *File) hasProviders(all []Provider) bool {
	if len(all) != len(f.providerBlocks) {
		return false
	}
	for _, p := range all {
		b, ok := f.providerBy[p.Address]
		if !ok || b.provider.Version != p.Version || !slices.Equal(b.provider.Hashes, uniqueHashes(p.Hashes)) {
			return false
		}
	}
	return true
}

// HasStockHashes reports whether stock tools would keep the list of hashes that was read for a
// provider. They rewrite the file if a list is not sorted, repeats a hash, or has a hash of a
// scheme that they do not know. It returns true if there is no such provider.
func (f *File) HasStockHashes(address addrs.Provider) bool {
	b, ok := f.providerBy[address]
	return !ok || b.provider.hasStockHashes()
}

// RemoveProvider removes a provider if the file has it.
func (f *File) RemoveProvider(address addrs.Provider) { delete(f.providers, address) }

// ProviderLabels returns the labels of all provider blocks that were read, in the order of
// the file. It includes blocks with errors, and "" for a block without a label.
func (f *File) ProviderLabels() []string { return slices.Clone(f.providerLabels) }

// ProviderFaults returns the errors in the provider blocks that were read. They do not
// prevent a file from being read, because module blocks do not depend on them. But a
// provider whose block has an error is not in [File.Providers]. A caller that installs
// providers must not treat it as unlocked; see [File.StockFaults].
func (f *File) ProviderFaults() hcl.Diagnostics { return slices.Clone(f.providerFaults) }

// StockFaults returns the reasons why the stock tool of a dialect does not read the file as its
// .terraform.lock.hcl, in the order of the file: the [File.ProviderFaults], addresses that only
// the other tool accepts, and arguments and blocks beside the provider and module blocks. The
// list is not complete if there are more than 1,000. A lock of modules in a file of its own,
// which stock tools do not read, may have such arguments and blocks.
func (f *File) StockFaults(dialect addrs.Parser) hcl.Diagnostics {
	faults := slices.Concat(f.providerFaults, f.unknownContent)
	for _, b := range f.providerBlocks {
		if _, err := dialect.ParseProviderSource(b.provider.Address.String()); err != nil {
			faults = append(faults, failure("Invalid provider address", fmt.Sprintf("Provider %.300q: %s.", b.provider.Address, err), &b.provider.Range)...)
		}
	}
	slices.SortStableFunc(faults, func(a, b *hcl.Diagnostic) int { return cmp.Compare(a.Subject.Start.Byte, b.Subject.Start.Byte) })
	return faults
}

func (f *File) sortedProviders() []*providerEntry {
	sorted := make([]*providerEntry, 0, len(f.providers))
	for _, e := range f.providers {
		sorted = append(sorted, e)
	}
	slices.SortFunc(sorted, func(a, b *providerEntry) int { return a.provider.Address.Compare(b.provider.Address) })
	return sorted
}
