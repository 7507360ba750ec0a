package lockfile

import (
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

// RemoveProvider removes a provider if the file has it.
func (f *File) RemoveProvider(address addrs.Provider) { delete(f.providers, address) }

// ProviderLabels returns the labels of all provider blocks that were read, in the order of
// the file. It includes blocks with errors, and "" for a block without a label.
func (f *File) ProviderLabels() []string { return slices.Clone(f.providerLabels) }

// ProviderFaults returns the errors in the provider blocks that were read. They do not
// prevent a file from being read, because module blocks do not depend on them. But a
// provider whose block has an error is not in [File.Providers]. A caller that installs
// providers must not treat it as unlocked.
func (f *File) ProviderFaults() hcl.Diagnostics { return slices.Clone(f.providerFaults) }

func (f *File) sortedProviders() []*providerEntry {
	sorted := make([]*providerEntry, 0, len(f.providers))
	for _, e := range f.providers {
		sorted = append(sorted, e)
	}
	slices.SortFunc(sorted, func(a, b *providerEntry) int { return a.provider.Address.Compare(b.provider.Address) })
	return sorted
}

// providerEdits changes provider blocks in place, and inserts each new block after the last
// block that sorts before it.
func (f *File) providerEdits() []edit {
	var edits []edit
	for _, b := range f.providerBlocks {
		if _, kept := f.providers[b.provider.Address]; !kept {
			edits = append(edits, edit{span: f.cut(b.span)})
		}
	}
	for _, e := range f.sortedProviders() {
		switch {
		case !e.changed():
		case e.block != nil:
			edits = append(edits, edit{span: e.block.span, text: e.render()})
		default:
			at := f.providerInsertionPoint(e.provider.Address)
			edits = append(edits, edit{span: span{at, at}, text: e.render(), separate: true})
		}
	}
	return edits
}

// providerInsertionPoint returns the offset for a new block.
func (f *File) providerInsertionPoint(address addrs.Provider) int {
	for _, b := range slices.Backward(f.providerBlocks) {
		if b.provider.Address.Compare(address) < 0 {
			return lineEnd(f.src, b.end)
		}
	}
	if len(f.providerBlocks) > 0 {
		return leadStart(f.src, f.providerBlocks[0].start)
	}
	return len(f.src)
}
