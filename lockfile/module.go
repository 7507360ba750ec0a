package lockfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/versions"
)

// Module is one locked module call, or one whose package is replaced by a directory; see
// [Module.IsDirectory].
type Module struct {
	// Key is the dotted path of module calls, from addrs.Module.
	Key string `json:"key"`
	// Version is the selected version; zero if the source has no versions.
	Version versions.Version `json:"version,omitzero"`
	// Source is the canonical source address, with the registry host and the
	// subdirectory, without credentials.
	Source string `json:"source"`
	// Constraints is the call's version constraint; zero if the call has none.
	Constraints versions.Constraints `json:"constraints,omitzero"`
	// Replaces is the source address of the call in the configuration, in the form of Source, if the
	// project's settings replace it by Source; "" otherwise.
	Replaces string `json:"replaces,omitzero"`
	// Package is the immutable address of the fetched package; "" in files of tools that do
	// not record it. It is a pin: the address that Source resolves to is compared with it.
	// A package is never fetched from Package without that comparison.
	Package string `json:"package,omitzero"`
	// Hashes are the package's hashes, sorted, at most one of each scheme. At
	// least one of them is Strong. A directory has none.
	Hashes []hashing.Hash `json:"hashes,omitempty"`
	// Range is the header of the block in the file that was read; zero for a module that
	// was set. Equal ignores it.
	Range hcl.Range `json:"-"`
}

// Equal reports whether two modules have equal fields, except for Range.
func (m Module) Equal(other Module) bool {
	m, other = m.normal(), other.normal()
	return m.Key == other.Key && m.Version == other.Version && m.Source == other.Source &&
		m.Constraints.Equal(other.Constraints) && m.Replaces == other.Replaces && m.Package == other.Package && slices.Equal(m.Hashes, other.Hashes)
}

// IsDirectory reports whether the project's settings replace the package of the call by a directory.
// Source is its path, relative to the root module. The files are not locked.
func (m Module) IsDirectory() bool {
	return m.Replaces != "" && (strings.HasPrefix(m.Source, "./") || strings.HasPrefix(m.Source, "../"))
}

// SplitPackage returns the parsed address of the package, and the directory in the package
// that the origin named; "" is the package's root.
func (m Module) SplitPackage() (pkg addrs.ModulePackage, subdir string) {
	address, subdir := addrs.SplitSubdir(m.Package)
	return addrs.ParseModulePackage(address), subdir
}

// Revision returns the commit, changeset or digest in Package, or "" if it has none.
func (m Module) Revision() string {
	pkg, _ := m.SplitPackage()
	return pkg.Revision()
}

// Hash returns the module's hash of a scheme, such as "h1", or "" if it has none.
func (m Module) Hash(scheme string) hashing.Hash {
	for _, h := range m.Hashes {
		if h.Scheme() == scheme {
			return h
		}
	}
	return ""
}

func (m *Module) key() string { return m.Key }

func (m *Module) equals(other *Module) bool { return m.Equal(*other) }

func (m *Module) normalized() *Module {
	normal := m.normal()
	return &normal
}

// normal returns m with a sorted copy of its hashes.
func (m Module) normal() Module {
	m.Hashes = slices.Clone(m.Hashes)
	slices.Sort(m.Hashes)
	return m
}

func (m *Module) hasNormalHashes() bool { return slices.IsSorted(m.Hashes) }

// writable reports whether the addresses have no credentials.
func (m *Module) writable() bool {
	return !holdsCredential(m.Source) && !holdsCredential(m.Replaces) && !holdsCredential(m.Package)
}

func (m *Module) render(extras []string) string {
	var groups []string
	switch {
	case m.Version.IsZero():
		groups = append(groups, attribute("source = ", m.Source))
	default:
		groups = append(groups, attribute("version = ", m.Version.String())+attribute("source  = ", m.Source))
	}
	if !m.Constraints.IsZero() {
		groups = append(groups, attribute("constraints = ", m.Constraints.String()))
	}
	if m.Replaces != "" {
		groups = append(groups, attribute("replaces = ", m.Replaces))
	}
	if m.Package != "" {
		groups = append(groups, attribute("package = ", m.Package))
	}
	if len(m.Hashes) > 0 {
		groups = append(groups, hashList(m.normal().Hashes))
	}
	for _, extra := range extras {
		groups = append(groups, extra+"\n")
	}
	return "module " + quote(m.Key) + " {\n" + strings.Join(groups, "\n") + "}"
}

// module reads a module block. A block with errors is added too, so that a second one for the same
// key is found.
func (p *parser) module(b *hclsyntax.Block) {
	if len(b.Labels) != 1 {
		p.fail(b.DefRange(), "Invalid module block", "A module block has one label, the dotted path of module calls; this one has %d.", len(b.Labels))
		return
	}
	key := b.Labels[0]
	if strings.Contains(key, "/") {
		p.file.foreign = append(p.file.foreign, key)
		return
	}
	if first, ok := p.file.modules.read[key]; ok {
		p.fail(b.LabelRanges[0], "Duplicate module block", "Module %.300q is already locked on line %d. Keep one of the two blocks.", key, first.value.Range.Start.Line)
		return
	}
	before := len(p.diags)
	m := &Module{Key: key, Range: b.DefRange()}
	var read []fault
	for _, field := range []struct {
		name, summary string
		set           func(text string) error
	}{
		{"version", "Invalid version", func(text string) (err error) { m.Version, err = versions.Parse(text); return err }},
		{"source", "", func(text string) error { m.Source = text; return nil }},
		{"constraints", "Invalid version constraint", func(text string) (err error) { m.Constraints, err = versions.ParseConstraints(text); return err }},
		{"replaces", "", func(text string) error { m.Replaces = text; return nil }},
		{"package", "", func(text string) error { m.Package = text; return nil }},
	} {
		text, written := p.attribute(b, field.name)
		switch {
		case text != "":
			if err := field.set(text); err != nil {
				read = append(read, fault{field.name, -1, field.summary, err})
			}
		case written:
			p.fail(b.Body.Attributes[field.name].Expr.Range(), "Empty attribute", "Module %.300q: %s has no value; remove the line.", key, field.name)
		}
	}
	m.Source = withoutModulesSegment(m.Source)
	m.Hashes = p.hashes(b)
	p.file.modules.add(m, spanOf(b), p.extras(b))
	if len(p.diags) > before {
		return
	}
	p.failAt(b, "Module", append(read, m.faults()...))
	for _, field := range []struct{ name, address string }{{"source", m.Source}, {"replaces", m.Replaces}, {"package", m.Package}} {
		if holdsPassword(field.address) {
			p.fail(b.Body.Attributes[field.name].NameRange, "Credentials in lock file", "Module %.300q: %s. Remove the password here, and change it: anyone who can read this file can read it.", key, ErrCredential)
		}
	}
}

// moduleAttributes are the attributes of a module block that render writes.
var moduleAttributes = []string{"version", "source", "constraints", "replaces", "package", "hashes"}

// extras returns the source of a module block's unknown attributes and nested blocks,
// which are preserved when the block is rewritten. Each includes the comments above
// it and at the end of its line.
func (p *parser) extras(b *hclsyntax.Block) []string {
	var spans []span
	for name, attribute := range b.Body.Attributes {
		if !slices.Contains(moduleAttributes, name) {
			spans = append(spans, span{attribute.SrcRange.Start.Byte, attribute.SrcRange.End.Byte})
		}
	}
	for _, nested := range b.Body.Blocks {
		spans = append(spans, spanOf(nested))
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	extras := make([]string, 0, len(spans))
	for _, s := range spans {
		start := max(leadStart(p.src, s.start), b.OpenBraceRange.End.Byte)
		end := min(lineEnd(p.src, s.end), b.CloseBraceRange.Start.Byte)
		text := strings.TrimRight(string(p.src[start:end]), " \t\r\n")
		if !strings.HasPrefix(text, " ") && !strings.HasPrefix(text, "\t") {
			text = "  " + text
		}
		extras = append(extras, text)
	}
	return extras
}

// withoutModulesSegment converts an address in the form of the RFC's example,
// HOST/modules/NAMESPACE/NAME/SYSTEM, to a plain registry address. It returns other
// addresses unchanged.
func withoutModulesSegment(source string) string {
	host, rest, _ := strings.Cut(source, "/")
	plain, ok := strings.CutPrefix(rest, "modules/")
	if !ok {
		return source
	}
	if _, err := addrs.ParseModuleSource(source); err == nil {
		return source
	}
	registry, err := addrs.ParseModuleSourceRegistry(host + "/" + plain)
	if err != nil {
		return source
	}
	return registry.String()
}

// faults returns the invalid values of a module.
func (m *Module) faults() []fault {
	var found []fault
	add := func(attribute, summary string, err error) {
		if err != nil {
			found = append(found, fault{attribute, -1, summary, err})
		}
	}
	add("", "Invalid module key", keyFault(m.Key))
	add("source", "Invalid source address", sourceFault(m.Source))
	add("replaces", "Invalid source address", textFault(m.Replaces))
	add("package", "Invalid package address", textFault(m.Package))
	if m.IsDirectory() {
		if !m.Version.IsZero() || !m.Constraints.IsZero() || m.Package != "" || len(m.Hashes) > 0 {
			add("source", "Locked directory", errors.New("a directory that replaces a package has no version, constraint, package or hashes; remove them"))
		}
		return found
	}
	return append(found, hashFaults(m.Hashes)...)
}

// writeFaults returns the reasons why a module that was set cannot be written.
func (m *Module) writeFaults() []fault {
	found := m.faults()
	for _, field := range []struct{ name, address string }{{"source", m.Source}, {"replaces", m.Replaces}, {"package", m.Package}} {
		if holdsCredential(field.address) {
			found = append(found, fault{attribute: field.name, element: -1, err: ErrCredential})
		}
	}
	return found
}

func keyFault(key string) error {
	path, err := addrs.ParseModule(key)
	if err == nil && path.IsRoot() {
		return errors.New("the key is empty")
	}
	return err
}

func sourceFault(source string) error {
	if source == "" {
		return errors.New("the source address is empty")
	}
	return textFault(source)
}

func textFault(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("not valid UTF-8")
	}
	return nil
}

// hashFaults allows at most one hash of each scheme. If there could be several, an attacker
// could add a hash so that other content is accepted.
func hashFaults(hashes []hashing.Hash) []fault {
	var found []fault
	add := func(element int, summary, format string, args ...any) {
		found = append(found, fault{"hashes", element, summary, fmt.Errorf(format, args...)})
	}
	if len(hashes) == 0 {
		add(-1, "Missing hashes", "without a hash the module cannot be verified; remove the block to lock the module anew")
		return found
	}
	seen, strong := map[string]bool{}, false
	for i, h := range hashes {
		if _, err := hashing.ParseHash(string(h)); err != nil {
			add(i, "Invalid hash", "%w", err)
			continue
		}
		if seen[h.Scheme()] {
			add(i, "Conflicting hashes", "there are two hashes of scheme %q, and only one can be right", h.Scheme())
		}
		seen[h.Scheme()] = true
		strong = strong || h.Strong()
	}
	if !strong && len(found) == 0 {
		add(-1, "No usable hash", "an h1: or a t1: hash is needed to verify the module; remove the block to lock it anew")
	}
	return found
}

// holdsPassword checks an address that was read. It finds less than holdsCredential, so
// that it does not refuse the query arguments of other tools.
func holdsPassword(address string) bool {
	pkg, _ := addrs.SplitSubdir(address)
	at, err := addrs.ParseModulePackage(pkg).Location()
	if err != nil {
		_, behind, isURL := strings.Cut(address, "://")
		return isURL && strings.Contains(behind, "@")
	}
	_, isSet := at.URL().User.Password()
	return isSet
}

// holdsCredential checks an address that is to be written.
func holdsCredential(address string) bool {
	return addrs.ParseModulePackage(address).WithoutCredentials() != addrs.ParseModulePackage(address)
}
