package lockfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/versions"
)

// Provider is one locked provider.
type Provider struct {
	Address addrs.Provider   `json:"address"`
	Version versions.Version `json:"version"`
	// Constraints are the combined constraints of all modules.
	Constraints versions.ProviderConstraints `json:"constraints,omitzero"`
	// Hashes are sorted, for all known platforms. Unlike a Module, a Provider may have several of one
	// scheme.
	Hashes []hashing.Hash `json:"hashes"`
	// Range is the header of the block that was read; zero for a provider that was set.
	Range hcl.Range `json:"-"`
}

// Equal reports whether all fields except for Range are equal. It ignores the order of hashes, and
// duplicates.
func (p Provider) Equal(other Provider) bool {
	return p.Address == other.Address && p.Version == other.Version && p.Constraints.Equal(other.Constraints) &&
		slices.Equal(uniqueHashes(p.Hashes), uniqueHashes(other.Hashes))
}

// Merge returns the provider to lock after installed was verified; p was locked before. For the same
// address and version, that is installed with the hashes of both, except for those of p with schemes other
// than h1 and zh: stock tools drop these when they install, and would rewrite the lock. Otherwise it is
// installed.
func (p Provider) Merge(installed Provider) Provider {
	if p.Address == installed.Address && p.Version == installed.Version {
		installed.Hashes = append(slices.DeleteFunc(slices.Clone(p.Hashes), hasForeignScheme), installed.Hashes...)
	}
	return *installed.normalized()
}

func hasForeignScheme(h hashing.Hash) bool { return h.Scheme() != "h1" && h.Scheme() != "zh" }

func (p *Provider) key() string { return providerKey(p.Address) }

func (p *Provider) equals(other *Provider) bool { return p.Equal(*other) }

func (p *Provider) normalized() *Provider {
	normal := *p
	normal.Hashes = uniqueHashes(p.Hashes)
	return &normal
}

// providerKey is ordered as [addrs.Provider.Compare] orders addresses.
func providerKey(p addrs.Provider) string {
	return string(p.Hostname) + "\x00" + p.Namespace + "\x00" + p.Type
}

func (p *Provider) hasNormalHashes() bool { return slices.Equal(p.Hashes, uniqueHashes(p.Hashes)) }

func uniqueHashes(hashes []hashing.Hash) []hashing.Hash {
	sorted := slices.Clone(hashes)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

func (p *Provider) writable() bool { return true }

func (p *Provider) header() string { return "provider " + quote(p.Address.String()) }

// content has the layout of stock tools.
func (p *Provider) content() content {
	return content{
		{name: "version", text: p.Version.String()},
		{name: "constraints", text: p.Constraints.String(), joined: true},
		{name: "hashes", hashes: uniqueHashes(p.Hashes), joined: true},
	}
}

// provider adds errors to the provider faults, and the block is then preserved like an unknown one.
func (p *parser) provider(b *hclsyntax.Block) {
	label := ""
	if len(b.Labels) > 0 {
		label = b.Labels[0]
	}
	p.file.providerBlocks = append(p.file.providerBlocks, labeledSpan{label, spanOf(b)})

	decoder := parser{src: p.src}
	provider := decoder.decodeProvider(b)
	decoder.onlyProviderArguments(b)
	if first, ok := p.file.providers.read[provider.key()]; ok && len(decoder.diags) == 0 {
		decoder.fail(b.LabelRanges[0], "Duplicate provider block", "Provider %.300q is already locked on line %d. Keep one of the two blocks.", label, first.value.Range.Start.Line)
	}
	if len(decoder.diags) > 0 {
		p.file.providerFaults = append(p.file.providerFaults, decoder.diags...)
		return
	}
	p.file.providers.add(provider, spanOf(b))
}

// decodeProvider returns an incomplete provider if p has diagnostics afterwards.
func (p *parser) decodeProvider(b *hclsyntax.Block) *Provider {
	if len(b.Labels) != 1 {
		p.fail(b.DefRange(), "Invalid provider block", "A provider block has one label, the provider's address; this one has %d.", len(b.Labels))
		return &Provider{}
	}
	provider := &Provider{Range: b.DefRange()}
	var err error
	if provider.Address, err = parseProviderLabel(b.Labels[0]); err != nil {
		p.fail(b.LabelRanges[0], "Invalid provider address", "Provider %.300q: %s.", b.Labels[0], err)
	}
	var read []fault
	version, _ := p.attribute(b, "version")
	if provider.Version, err = parseProviderVersion(version); err != nil {
		read = append(read, fault{"version", -1, "Invalid version", err})
	}
	constraints, _ := p.attribute(b, "constraints")
	if provider.Constraints, err = parseProviderConstraints(constraints); err != nil {
		read = append(read, fault{"constraints", -1, "Invalid version constraints", err})
	}
	provider.Hashes = p.hashes(b)
	if provider.Hashes != nil && len(provider.Hashes) == 0 {
		p.fail(b.Body.Attributes["hashes"].Expr.Range(), "Invalid hashes", "Provider %.300q: the list of hashes is empty. Write at least one hash, or remove the argument.", b.Labels[0])
	}
	if len(p.diags) == 0 {
		p.failAt(b, "Provider", b.Labels[0], append(read, provider.hashFaults()...))
	}
	return provider
}

// providerArguments are all that stock tools accept in a provider block.
var providerArguments = []string{"version", "constraints", "hashes"}

// onlyProviderArguments reports what stock tools refuse.
func (p *parser) onlyProviderArguments(b *hclsyntax.Block) {
	for _, name := range slices.Sorted(maps.Keys(b.Body.Attributes)) {
		if !slices.Contains(providerArguments, name) {
			p.fail(b.Body.Attributes[name].NameRange, "Unsupported argument", "A provider block has no argument %.300q, only version, constraints and hashes. Remove it: tofu and terraform refuse the file.", name)
		}
	}
	for _, nested := range b.Body.Blocks {
		p.fail(nested.DefRange(), "Unsupported block", "A provider block has no blocks, but this one has %.300q. Remove it: tofu and terraform refuse the file.", nested.Type)
	}
}

// parseProviderLabel parses a label in the form of [addrs.Provider.String]. It uses Terraform's grammar,
// which allows more names.
func parseProviderLabel(label string) (addrs.Provider, error) {
	parser := addrs.Parser{DefaultRegistryHost: addrs.TerraformRegistryHost}
	address, err := parser.ParseProviderSource(label)
	if err != nil {
		return addrs.Provider{}, err
	}
	if address.String() != label {
		return addrs.Provider{}, fmt.Errorf("the address must be written in full as %q", address)
	}
	return address, addressFault(address)
}

func addressFault(address addrs.Provider) error {
	switch {
	case address.IsBuiltIn():
		return errors.New("it is built into the tool, so there is nothing to lock")
	case address.IsLegacy():
		return errors.New(`the namespace "-" of early versions cannot be locked`)
	}
	return nil
}

func (p *Provider) hashFaults() []fault {
	var found []fault
	for i, h := range p.Hashes {
		if err := providerHashFault(h); err != nil {
			found = append(found, fault{"hashes", i, "Invalid hash", err})
		}
	}
	return found
}

// providerHashFault allows what stock tools allow, any scheme and value. A malformed hash matches no
// package.
func providerHashFault(h hashing.Hash) error {
	if scheme, _, found := strings.Cut(string(h), ":"); !found || scheme == "" {
		return errors.New(`it must begin with a scheme such as "h1:"`)
	}
	return nil
}

// parseProviderVersion accepts only canonical versions, because directories are named after them.
func parseProviderVersion(text string) (versions.Version, error) {
	if text == "" {
		return versions.Version{}, errors.New("the version is missing")
	}
	parsed, err := versions.ParseProviderVersion(text)
	if err == nil && parsed.String() != text {
		err = fmt.Errorf("the version must be written as %q", parsed)
	}
	if err != nil {
		return versions.Version{}, err
	}
	return parsed, nil
}

func (p *Provider) writeFaults() []fault {
	var found []fault
	parsed, err := parseProviderLabel(p.Address.String())
	if err == nil && parsed != p.Address {
		err = fmt.Errorf("it is not the address %q", parsed)
	}
	if err != nil {
		found = append(found, fault{attribute: "", element: -1, err: err})
	}
	if _, err := parseProviderVersion(p.Version.String()); err != nil {
		found = append(found, fault{attribute: "version", element: -1, err: err})
	}
	return append(found, p.hashFaults()...)
}

// parseProviderConstraints accepts only the form that stock tools write, because they refuse any other.
func parseProviderConstraints(text string) (parsed versions.ProviderConstraints, err error) {
	err = parsed.UnmarshalText([]byte(text))
	if normal := parsed.String(); err == nil && normal != text {
		err = fmt.Errorf("the constraints must be written as %q", normal)
	}
	return parsed, err
}
