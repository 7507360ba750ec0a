package lockfile

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
)

// Provider is one locked provider.
type Provider struct {
	Address addrs.Provider
	// Version is the selected version.
	Version string
	// Constraints are the combined constraints of all modules, as stock tools write them;
	// "" if there are none.
	Constraints string
	// Hashes are the sorted hashes of the packages for all known platforms. Unlike a
	// Module, a Provider may have several hashes of one scheme.
	Hashes []hashing.Hash
	// Range is the header of the block in the file that was read; zero for a provider that
	// was set. Equal ignores it.
	Range hcl.Range
}

// Equal reports whether two providers have equal fields, except for Range. It ignores the
// order of hashes, and duplicates.
func (p Provider) Equal(other Provider) bool {
	return p.Address == other.Address && p.Version == other.Version && p.Constraints == other.Constraints &&
		slices.Equal(uniqueHashes(p.Hashes), uniqueHashes(other.Hashes))
}

// Merge returns the provider to lock after installed was verified; p is the provider that
// was locked before. If both have the same address and version, the result is installed
// with the hashes of both, except for hashes of p whose scheme is neither h1 nor zh: stock
// tools drop these when they install a provider, and would rewrite a lock that has them.
// Otherwise it is installed.
func (p Provider) Merge(installed Provider) Provider {
	if p.Address == installed.Address && p.Version == installed.Version {
		installed.Hashes = append(slices.DeleteFunc(slices.Clone(p.Hashes), hasForeignScheme), installed.Hashes...)
	}
	return installed.normal()
}

// hasForeignScheme reports whether stock tools do not know the scheme of a hash.
func hasForeignScheme(h hashing.Hash) bool { return h.Scheme() != "h1" && h.Scheme() != "zh" }

// hasStockHashes reports whether the hashes are as stock tools write them: sorted, unique, and
// of schemes that they know.
func (p Provider) hasStockHashes() bool {
	return !slices.ContainsFunc(p.Hashes, hasForeignScheme) && slices.Equal(p.Hashes, uniqueHashes(p.Hashes))
}

// normal returns p with a sorted copy of its hashes, without duplicates.
func (p Provider) normal() Provider {
	p.Hashes = uniqueHashes(p.Hashes)
	return p
}

func uniqueHashes(hashes []hashing.Hash) []hashing.Hash {
	sorted := slices.Clone(hashes)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// providerEntry is a provider to be written, with the block that it replaces.
type providerEntry struct {
	provider Provider
	block    *providerBlock // nil for a provider that is not in src
}

// providerBlock is a provider's block in src.
type providerBlock struct {
	provider Provider // its hashes are in the order of src
	span
}

func (e *providerEntry) changed() bool {
	return e.block == nil || !e.provider.Equal(e.block.provider)
}

// render returns a provider's block as stock tools write it, without a final newline.
func (e *providerEntry) render() string {
	var b strings.Builder
	p := e.provider.normal()
	b.WriteString("provider " + quote(p.Address.String()) + " {\n")
	if p.Constraints == "" {
		b.WriteString(attribute("version = ", p.Version))
	} else {
		b.WriteString(attribute("version     = ", p.Version) + attribute("constraints = ", p.Constraints))
	}
	if len(p.Hashes) > 0 {
		b.WriteString(hashList(p.Hashes))
	}
	b.WriteString("}")
	return b.String()
}
