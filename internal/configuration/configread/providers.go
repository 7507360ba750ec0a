package configread

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/versions"
)

type requirement struct {
	config.ProviderRequirement
	localName string
}

type requirements struct {
	Reader
	parser addrs.Parser
	diags  hcl.Diagnostics

	block     *hcl.Range                // the required_providers block that is not in an override file
	entries   map[string]*providerEntry // of required_providers, by local name
	configs   []*providerConfig
	resources []*resource
	byKey     map[string]*resource // index of resources, built when an override file needs it
	imports   []importBlock
	tests     []*providerConfig
}

func (r Reader) newRequirements() *requirements {
	found := &requirements{Reader: r, entries: map[string]*providerEntry{}}
	if r.Terraform {
		found.parser.DefaultRegistryHost = addrs.TerraformRegistryHost
	}
	return found
}

type constraint struct {
	text string
	at   hcl.Range
}

type importBlock struct {
	target string // "aws_instance.web", without the modules that it is in
	use    providerUse
}

type providerConfig struct {
	name, alias string
	version     constraint
	at          hcl.Range
	test        string // the test file with the block; "" for configuration files
}

type resource struct {
	kind, typ, name string
	provider        string // the local name in the provider argument, or ""
	at              hcl.Range
}

type providerUse struct {
	name string
	by   string
	at   hcl.Range
}

const byRequired = "required_providers"

func (r *requirements) fail(at hcl.Range, summary, format string, args ...any) {
	r.diags = append(r.diags, fault(at, summary, format, args...))
}

// resolve returns the requirements in the order of files and lines.
func (r *requirements) resolve() ([]config.ProviderRequirement, hcl.Diagnostics) {
	var found []requirement
	sources, hostless := map[string]addrs.Provider{}, map[string]bool{}
	for _, entry := range r.entries {
		source, ok := r.sourceOf(entry)
		hostless[entry.name] = entry.isHostless()
		if !ok {
			sources[entry.name] = addrs.Provider{} // known, so that no other provider is implied
			continue
		}
		sources[entry.name] = source
		found = r.append(found, requirement{config.ProviderRequirement{Provider: source, Hostless: entry.isHostless(), By: byRequired, Range: entry.at}, entry.name}, entry.version)
	}
	first := r.firstUses()
	for _, name := range slices.Sorted(maps.Keys(first)) { // several blocks in JSON have the same position
		use := first[name]
		if _, declared := sources[use.name]; declared {
			continue
		}
		if source, ok := r.impliedSource(use); ok {
			found = r.append(found, requirement{config.ProviderRequirement{Provider: source, Hostless: true, Implied: true, By: use.by, Range: use.at}, use.name}, constraint{})
		}
	}
	for _, block := range slices.Concat(r.configs, r.tests) {
		if block.version.at == (hcl.Range{}) {
			continue
		}
		source, declared := sources[block.name]
		if !declared {
			var ok bool
			if source, ok = r.impliedSource(block.use()); !ok {
				continue // already reported above
			}
		}
		if source != (addrs.Provider{}) {
			isHostless := !declared || hostless[block.name]
			found = r.append(found, requirement{config.ProviderRequirement{Provider: source, Hostless: isHostless, Implied: !declared, By: block.use().by, Range: block.at}, block.name}, block.version)
		}
	}
	slices.SortStableFunc(found, func(a, b requirement) int { return comparePositions(a.Range, b.Range) })
	r.warnOfTwins(found)
	slices.SortStableFunc(r.diags, compareRanges)
	var public []config.ProviderRequirement
	for _, f := range found {
		public = append(public, f.ProviderRequirement)
	}
	return public, slices.CompactFunc(r.diags, func(a, b *hcl.Diagnostic) bool { return keyOf(a) == keyOf(b) })
}

func comparePositions(a, b hcl.Range) int {
	return cmp.Or(cmp.Compare(a.Filename, b.Filename), cmp.Compare(a.Start.Line, b.Start.Line), cmp.Compare(a.Start.Column, b.Start.Column))
}

// append leaves out requirements for built-in providers and those with errors.
func (r *requirements) append(found []requirement, needed requirement, version constraint) []requirement {
	if version.at != (hcl.Range{}) {
		needed.Constraint, needed.ConstraintRange = version.text, version.at
		if _, err := versions.ParseProviderConstraints(version.text); err != nil {
			r.fail(version.at, "Invalid version constraint", "Provider %q: %s.", needed.localName, err)
			r.diags[len(r.diags)-1].Extra = &config.ProviderError{Provider: needed.Provider, RequiredBy: []config.ProviderRequirement{needed.ProviderRequirement}, Err: err}
			needed.Constraint = ""
		}
	}
	source := needed.Provider
	switch {
	case source.IsLegacy():
		r.fail(needed.Range, "Legacy provider address", "Provider %q: %q is an address from early versions of Terraform. Replace it with an address that has the provider's namespace.", needed.localName, source)
	case r.parser.IsBuiltIn(source):
		r.checkBuiltIn(needed, version)
	case !r.parser.AcceptsFullAddress(source):
		r.fail(needed.Range, "Provider that cannot be locked", "Provider %q: %[2]s accepts this name, but cannot read a lock with %[3]q, so `%[2]s plan` fails after `%[2]s init`. Providers have no names with such a prefix; write the name without it.", needed.localName, r.tool(), source)
	default:
		return append(found, needed)
	}
	return found
}

const builtInType = "terraform"

func (r *requirements) checkBuiltIn(needed requirement, version constraint) {
	if needed.Provider.Type != builtInType {
		r.fail(needed.Range, "Invalid provider address", "There is no built-in provider %q.", needed.Provider)
	} else if version.at != (hcl.Range{}) {
		r.fail(version.at, "Invalid version constraint", "Provider %q is built in, so there is no version of it to constrain.", needed.localName)
	}
}

func (r *requirements) sourceOf(entry *providerEntry) (addrs.Provider, bool) {
	if !entry.hasSource {
		return r.impliedSource(providerUse{name: entry.name, at: entry.at})
	}
	source, err := r.parser.ParseProviderSource(entry.source)
	if err != nil {
		r.fail(entry.sourceAt, "Invalid provider source", "Provider %q: %s.", entry.name, err)
	}
	return source, err == nil
}

func (r *requirements) impliedSource(use providerUse) (addrs.Provider, bool) {
	if use.name == builtInType {
		return addrs.Provider{Hostname: "terraform.io", Namespace: "builtin", Type: builtInType}, true
	}
	source, err := r.parser.ParseProviderSource(use.name)
	if err != nil {
		r.fail(use.at, "Invalid provider name", "%s.", err)
	}
	return source, err == nil
}

// firstUses returns the first block, in the order of files and lines, that needs each local name.
func (r *requirements) firstUses() map[string]providerUse {
	first := map[string]providerUse{}
	isFirst := func(name string, at hcl.Range) bool {
		known, ok := first[name]
		return !ok || comparePositions(at, known.at) < 0
	}
	for _, config := range slices.Concat(r.configs, r.tests) {
		if isFirst(config.name, config.at) {
			first[config.name] = config.use()
		}
	}
	names := map[string]string{} // by resource type; "" if the type is not valid
	for _, resource := range r.resources {
		name := resource.provider
		if name == "" {
			var ok bool
			if name, ok = names[resource.typ]; !ok {
				name = r.nameOfType(resource.typ, resource.at)
				names[resource.typ] = name
			}
		}
		if name != "" && isFirst(name, resource.at) {
			first[name] = providerUse{name: name, by: resource.key(), at: resource.at}
		}
	}
	for _, use := range r.importedUses() {
		if isFirst(use.name, use.at) {
			first[use.name] = use
		}
	}
	return first
}

// importedUses returns the uses in import blocks. In Terraform, a resource that the module declares
// decides its provider itself. In OpenTofu both count.
func (r *requirements) importedUses() []providerUse {
	var uses []providerUse
	declared := map[string]bool{}
	if r.Terraform && len(r.imports) > 0 {
		for _, resource := range r.resources {
			declared[resource.key()] = true
		}
	}
	for _, block := range r.imports {
		if !declared["resource "+block.target] {
			uses = append(uses, block.use)
		}
	}
	return uses
}

func (c *providerConfig) use() providerUse {
	if c.test != "" {
		return providerUse{name: c.name, by: "test file " + c.test, at: c.at}
	}
	return providerUse{name: c.name, by: fmt.Sprintf("provider %q", c.name), at: c.at}
}

func (r *resource) key() string { return r.kind + " " + r.typ + "." + r.name }

// nameOfType returns the local name that a resource type implies, or "" if it is not valid.
func (r *requirements) nameOfType(typ string, at hcl.Range) string {
	prefix, _, _ := strings.Cut(typ, "_")
	name, err := addrs.ParseProviderPart(prefix)
	if err != nil {
		r.fail(at, "Invalid resource type name", "%.300q cannot be the name of a resource type: its provider's name %s.", typ, err)
		return ""
	}
	return name
}

func (r *requirements) warnOfTwins(found []requirement) {
	names := map[addrs.Provider]requirement{}
	for _, needed := range found {
		first, ok := names[needed.Provider]
		if !ok {
			names[needed.Provider] = needed
		} else if first.localName != needed.localName && needed.By == byRequired {
			r.diags = append(r.diags, warning("Duplicate provider",
				fmt.Sprintf("Provider %s has two local names, %q and %q (%s). The constraints of both apply.", needed.Provider, needed.localName, first.localName, position(first.Range)), needed.Range))
		}
	}
}
