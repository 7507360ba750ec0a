package lockfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/versions"
)

// provider reads a provider block. Errors are added to the file's provider faults; the
// block is then preserved like an unknown block.
func (p *parser) provider(b *hclsyntax.Block) {
	if len(p.file.providerLabels) == 0 {
		p.file.firstProvider = b.TypeRange.Start.Byte
	}
	label := ""
	if len(b.Labels) > 0 {
		label = b.Labels[0]
	}
	p.file.providerLabels = append(p.file.providerLabels, label)

	decoder := parser{src: p.src}
	read := &providerBlock{provider: decoder.decodeProvider(b), span: spanOf(b)}
	address := read.provider.Address
	if first, ok := p.file.providerBy[address]; ok && len(decoder.diags) == 0 {
		decoder.fail(b.LabelRanges[0], "Duplicate provider block", "Provider %.300q is already locked on line %d. Keep one of the two blocks.", label, first.provider.Range.Start.Line)
	}
	if len(decoder.diags) > 0 {
		p.file.providerFaults = append(p.file.providerFaults, decoder.diags...)
		return
	}
	p.file.providerBlocks = append(p.file.providerBlocks, read)
	p.file.providerBy[address] = read
	p.file.providers[address] = &providerEntry{provider: read.provider, block: read}
}

// decodeProvider returns the provider of a block. If p has diagnostics afterwards, the
// provider is not complete.
func (p *parser) decodeProvider(b *hclsyntax.Block) Provider {
	if len(b.Labels) != 1 {
		p.fail(b.DefRange(), "Invalid provider block", "A provider block has one label, the provider's address; this one has %d.", len(b.Labels))
		return Provider{}
	}
	provider := Provider{Range: b.DefRange()}
	p.onlyProviderArguments(b)
	var err error
	if provider.Address, err = parseProviderLabel(b.Labels[0]); err != nil {
		p.fail(b.LabelRanges[0], "Invalid provider address", "Provider %.300q: %s.", b.Labels[0], err)
	}
	if attribute, ok := b.Body.Attributes["version"]; ok {
		provider.Version = p.str(attribute.Expr)
	}
	if attribute, ok := b.Body.Attributes["constraints"]; ok {
		provider.Constraints = p.str(attribute.Expr)
	}
	if attribute, ok := b.Body.Attributes["hashes"]; ok {
		provider.Hashes = p.hashes(attribute.Expr)
		if list, isList := attribute.Expr.(*hclsyntax.TupleConsExpr); isList && len(list.Exprs) == 0 {
			p.fail(attribute.Expr.Range(), "Invalid hashes", "Provider %.300q: the list of hashes is empty. Write at least one hash, or remove the argument.", b.Labels[0])
		}
	}
	if len(p.diags) > 0 {
		return provider
	}
	for _, bad := range provider.faults() {
		at := b.DefRange()
		if attribute, ok := b.Body.Attributes[bad.attribute]; ok {
			at = attribute.Expr.Range()
			if bad.element >= 0 {
				at = attribute.Expr.(*hclsyntax.TupleConsExpr).Exprs[bad.element].Range()
			}
		}
		p.fail(at, bad.summary, "Provider %.300q: %s.", b.Labels[0], bad.err)
	}
	return provider
}

// providerArguments are the arguments of a provider block. Stock tools refuse any other.
var providerArguments = []string{"version", "constraints", "hashes"}

// onlyProviderArguments reports the arguments and blocks that stock tools do not know, and
// therefore refuse.
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

// parseProviderLabel parses a label, which must be a full address in the form that
// [addrs.Provider.String] returns. It uses Terraform's grammar because that allows more
// names.
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

// faults returns the invalid values of a provider, except for its address.
func (p Provider) faults() []fault {
	var found []fault
	add := func(attribute string, element int, summary string, err error) {
		if err != nil {
			found = append(found, fault{attribute, element, summary, err})
		}
	}
	add("version", -1, "Invalid version", providerVersionFault(p.Version))
	add("constraints", -1, "Invalid version constraints", providerConstraintsFault(p.Constraints))
	for i, h := range p.Hashes {
		add("hashes", i, "Invalid hash", providerHashFault(h))
	}
	return found
}

// providerHashFault allows everything that stock tools allow: any scheme and any value, even
// none. A hash that is not well-formed matches no package.
func providerHashFault(h hashing.Hash) error {
	if scheme, _, found := strings.Cut(string(h), ":"); !found || scheme == "" {
		return errors.New(`it must begin with a scheme such as "h1:"`)
	}
	return nil
}

// providerVersionFault allows only canonical versions, because directories are named after
// them.
func providerVersionFault(version string) error {
	if version == "" {
		return errors.New("the version is missing")
	}
	parsed, err := versions.ParseProviderVersion(version)
	if err != nil {
		return err
	}
	if parsed.String() != version {
		return fmt.Errorf("the version must be written as %q", parsed)
	}
	return nil
}

// checkFaults returns the errors that prevent a provider that was set from being written.
func (p Provider) checkFaults() []fault {
	var found []fault
	parsed, err := parseProviderLabel(p.Address.String())
	if err == nil && parsed != p.Address {
		err = fmt.Errorf("it is not the address %q", parsed)
	}
	if err != nil {
		found = append(found, fault{attribute: "", element: -1, err: err})
	}
	return append(found, p.faults()...)
}

// maxConstraints is the maximum size of a provider's constraints, in bytes. It is enough for
// some thousand modules that all require other versions.
const maxConstraints = 64 << 10

// providerConstraintsFault allows only the form that stock tools write, because they refuse
// a file with any other form.
func providerConstraintsFault(written string) error {
	if written == "" {
		return nil
	}
	if len(written) > maxConstraints {
		return fmt.Errorf("the constraints have more than %d bytes", maxConstraints)
	}
	// The constraints of all modules together may be longer than one constraint can be.
	var parts []versions.ProviderConstraints
	for part := range strings.SplitSeq(written, ", ") {
		parsed, err := versions.ParseProviderConstraints(part)
		if err != nil {
			return err
		}
		parts = append(parts, parsed)
	}
	if normal := (versions.ProviderConstraints{}).And(parts...).String(); normal != written {
		return fmt.Errorf("the constraints must be written as %q", normal)
	}
	return nil
}

// ProviderError is returned by [File.Check] for a provider that cannot be written.
type ProviderError struct {
	Address   addrs.Provider
	Attribute string // the attribute with the error; "" for the address itself
	Err       error
}

func (e *ProviderError) Error() string {
	if e.Attribute == "" {
		return fmt.Sprintf("cannot lock provider %q: %s", e.Address, e.Err)
	}
	return fmt.Sprintf("cannot lock provider %q: %s: %s", e.Address, e.Attribute, e.Err)
}

func (e *ProviderError) Unwrap() error { return e.Err }
