package lockfile

import (
	"cmp"
	"encoding/json"
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

// Module is one locked module call, or one whose package a directory replaces; see [Module.IsDirectory].
type Module struct {
	// Key is the dotted path of module calls, from addrs.Module.
	Key string `json:"key"`
	// Version is the selected version; zero if the source has no versions.
	Version versions.Version `json:"version,omitzero"`
	// Source is the canonical source address, with registry host and subdirectory, without credentials and
	// signatures.
	Source addrs.ModuleSource `json:"source"`
	// Constraints is the call's version constraint; zero if the call has none.
	Constraints versions.Constraints `json:"constraints,omitzero"`
	// Replaces is the call's source address, in the form of Source, if the project's settings replace it.
	Replaces addrs.ModuleSource `json:"replaces,omitzero"`
	// Package is the immutable address of the fetched package, with the directory in it that the origin
	// named; empty in files of tools that do not record it. It is a pin: a package is never fetched from it
	// without comparing it with what Source resolves to.
	Package addrs.ModuleSourceRemote `json:"package,omitzero"`
	// Hashes are sorted, at most one of each scheme, and at least one Strong. A directory has none.
	Hashes []hashing.Hash `json:"hashes,omitempty"`
	// Replaced is the entry that the call had before the project's settings replaced its source: its Source is
	// that in Replaces. If the call is no longer replaced, it counts again. It has the same key, and no Replaces
	// or Replaced of its own. nil if the call had none.
	Replaced *Module `json:"replaced,omitempty"`
	// Range is the header of the block that was read; zero for a module that was set.
	Range hcl.Range `json:"-"`
}

// Equal reports whether two modules have equal fields, except for Range.
func (m Module) Equal(other Module) bool {
	m, other = *m.normalized(), *other.normalized()
	return m.Key == other.Key && m.Version == other.Version && m.Source == other.Source &&
		m.Constraints.Equal(other.Constraints) && m.Replaces == other.Replaces && m.Package == other.Package && slices.Equal(m.Hashes, other.Hashes) &&
		(m.Replaced == nil) == (other.Replaced == nil) && (m.Replaced == nil || m.Replaced.Equal(*other.Replaced))
}

// IsDirectory reports whether the project's settings replace the package of the call by a directory, with
// the path Source relative to the root module. Its files are not locked.
func (m Module) IsDirectory() bool {
	_, local := m.Source.(addrs.ModuleSourceLocal)
	return m.Replaces != nil && local
}

// Revision returns the commit, changeset or digest in Package, or "" if it has none. A kind of source that only a program
// knows has it in the argument rev, if the entry has a version.
func (m Module) Revision() string {
	if _, remote := m.Source.(addrs.ModuleSourceRemote); remote && !m.Version.IsZero() {
		return cmp.Or(m.Package.Package.Revision(), m.Package.Package.Arg("rev"))
	}
	return m.Package.Package.Revision()
}

// MarshalJSON writes the addresses as a lock has them, with the arguments that it shows.
func (m Module) MarshalJSON() ([]byte, error) {
	type fields Module // without this method
	text := func(source addrs.ModuleSource) string {
		if source == nil {
			return ""
		}
		return addrs.LockForm(source, true).String()
	}
	return json.Marshal(struct {
		fields
		Source   string `json:"source"`
		Replaces string `json:"replaces,omitempty"`
	}{fields(m), text(m.Source), text(m.Replaces)})
}

// UnmarshalJSON reads what package encoding/json writes.
func (m *Module) UnmarshalJSON(text []byte) error {
	type fields Module // without this method
	read := struct {
		*fields
		Source   string `json:"source"`
		Replaces string `json:"replaces"`
	}{fields: (*fields)(m)}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	m.Source, m.Replaces = parseSource(read.Source), parseSource(read.Replaces)
	return nil
}

// parseSource returns nil for "". It keeps a text that is not a source address of a lock; it fits no call.
func parseSource(text string) addrs.ModuleSource {
	if text == "" {
		return nil
	}
	source, err := addrs.ParseModuleSource(text)
	if _, local := source.(addrs.ModuleSourceLocal); err == nil && (local || source.String() == text) {
		return source
	}
	return parsePackage(text)
}

func parsePackage(text string) addrs.ModuleSourceRemote {
	address, subdir := addrs.SplitSubdir(text)
	return addrs.ModuleSourceRemote{Package: addrs.ParseModulePackage(address), Subdir: subdir}
}

// addresses are a module's addresses by the names of their attributes; "" if it lacks one.
func (m *Module) addresses() []struct{ name, text string } {
	all := []struct{ name, text string }{{name: "source"}, {name: "replaces"}, {"package", m.Package.String()}}
	for i, source := range []addrs.ModuleSource{m.Source, m.Replaces} {
		if source != nil {
			all[i].text = source.String()
		}
	}
	return all
}

// Hash returns the module's hash of a scheme, such as "h1", or "".
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
	normal := *m
	normal.Hashes = slices.Sorted(slices.Values(m.Hashes))
	if m.Replaced != nil {
		normal.Replaced = m.Replaced.normalized()
	}
	return &normal
}

func (m *Module) hasNormalHashes() bool { return slices.IsSorted(m.Hashes) }

func (m *Module) writable() bool {
	for _, address := range m.addresses() {
		if holdsCredential(address.text) {
			return false
		}
	}
	return m.Replaced == nil || m.Replaced.writable()
}

func (m *Module) header() string { return "module " + quote(m.Key) }

func (m *Module) content() content {
	all := content{{name: "version", text: m.Version.String()}, {name: "source", joined: true}, {name: "constraints", text: m.Constraints.String()}}
	all = append(all, item{name: "replaces"}, item{name: "package"}, item{name: "hashes", hashes: m.normalized().Hashes})
	for _, address := range m.addresses() {
		i := slices.IndexFunc(all, func(i item) bool { return i.name == address.name })
		all[i].text = address.text
	}
	if m.Replaced != nil {
		return append(all, item{name: replacedBlock, block: m.Replaced.content()})
	}
	return append(all, item{name: replacedBlock})
}

// replacedBlock is the type of the nested block for [Module.Replaced].
const replacedBlock = "replaced"

// module also adds a block with errors, so that a second one for the same key is found.
func (p *parser) module(b *hclsyntax.Block) {
	if len(b.Labels) != 1 {
		p.fail(b.DefRange(), "Invalid module block", "A module block has one label, the dotted path of module calls; this one has %d.", len(b.Labels))
		return
	}
	key := b.Labels[0]
	if strings.Contains(key, "/") {
		p.file.bySource = append(p.file.bySource, p.sourceModule(b))
		return
	}
	if first, ok := p.file.modules.read[key]; ok {
		p.fail(b.LabelRanges[0], "Duplicate module block", "Module %.300q is already locked on line %d. Keep one of the two blocks.", key, first.value.Range.Start.Line)
		return
	}
	m := &Module{Key: key, Range: b.DefRange()}
	p.file.modules.add(m, spanOf(b))
	p.entry(b, m)
	for _, nested := range b.Body.Blocks {
		switch {
		case nested.Type != replacedBlock:
		case m.Replaced != nil || len(nested.Labels) > 0:
			p.fail(nested.DefRange(), "Invalid replaced block", "Module %.300q has at most one block %q, without a label: the entry that the call had before its source was replaced.", key, replacedBlock)
		default:
			m.Replaced = &Module{Key: key, Range: nested.DefRange()}
			p.entry(nested, m.Replaced)
		}
	}
}

// sourceModule reads a block whose label is a source address. The draft may change, so what cannot be read in it
// is no error: it counts as absent.
func (p *parser) sourceModule(b *hclsyntax.Block) Module {
	lenient := &parser{src: p.src}
	m := Module{Source: parseSource(withoutModulesSegment(b.Labels[0])), Range: b.DefRange()}
	text, _ := lenient.attribute(b, "version")
	m.Version, _ = versions.Parse(text)
	if hashes := lenient.hashes(b); hashFaults(hashes) == nil {
		m.Hashes = hashes
	}
	return m
}

// entry reads the attributes of an entry, which may be that of a nested block.
func (p *parser) entry(b *hclsyntax.Block, m *Module) {
	before := len(p.diags)
	var read []fault
	for _, field := range []struct {
		name, summary string
		set           func(text string) error
	}{
		{"version", "Invalid version", func(text string) (err error) { m.Version, err = versions.Parse(text); return err }},
		{"source", "", func(text string) error { m.Source = parseSource(withoutModulesSegment(text)); return nil }},
		{"constraints", "Invalid version constraint", func(text string) (err error) { m.Constraints, err = versions.ParseConstraints(text); return err }},
		{"replaces", "", func(text string) error { m.Replaces = parseSource(text); return nil }},
		{"package", "", func(text string) error { m.Package = parsePackage(text); return nil }},
	} {
		text, written := p.attribute(b, field.name)
		switch {
		case text != "":
			if err := field.set(text); err != nil {
				read = append(read, fault{field.name, -1, field.summary, err})
			}
		case written:
			p.fail(b.Body.Attributes[field.name].Expr.Range(), "Empty attribute", "Module %.300q: %s has no value; remove the line.", m.Key, field.name)
		}
	}
	m.Hashes = p.hashes(b)
	if len(p.diags) > before {
		return
	}
	p.failAt(b, "Module", m.Key, append(read, m.faults()...))
	for _, address := range m.addresses() {
		if holdsPassword(address.text) {
			p.fail(b.Body.Attributes[address.name].NameRange, "Credentials in lock file", "Module %.300q: %s. Remove the password here, and change it: anyone who can read this file can read it.", m.Key, ErrCredential)
		}
	}
}

// withoutModulesSegment converts the form of the RFC's example, HOST/modules/NAMESPACE/NAME/SYSTEM, to a
// plain registry address.
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

func (m *Module) faults() []fault {
	var found []fault
	add := func(attribute, summary string, err error) {
		if err != nil {
			found = append(found, fault{attribute, -1, summary, err})
		}
	}
	add("", "Invalid module key", keyFault(m.Key))
	if m.Source == nil {
		add("source", "Invalid source address", errors.New("the source address is empty"))
	}
	for _, address := range m.addresses() {
		if !utf8.ValidString(address.text) {
			add(address.name, "Invalid address", errors.New("not valid UTF-8"))
		}
	}
	if m.IsDirectory() {
		if !m.Version.IsZero() || !m.Constraints.IsZero() || !m.Package.IsZero() || len(m.Hashes) > 0 {
			add("source", "Locked directory", errors.New("a directory that replaces a package has no version, constraint, package or hashes; remove them"))
		}
		return found
	}
	return append(found, hashFaults(m.Hashes)...)
}

func (m *Module) writeFaults() []fault {
	found := m.faults()
	for _, address := range m.addresses() {
		if holdsCredential(address.text) {
			found = append(found, fault{attribute: address.name, element: -1, err: ErrCredential})
		}
	}
	if m.Replaced != nil {
		for _, inside := range m.Replaced.writeFaults() {
			found = append(found, fault{attribute: replacedBlock, element: -1, err: inside.err})
		}
		if m.Replaced.Key != m.Key || m.Replaced.Replaces != nil || m.Replaced.Replaced != nil {
			found = append(found, fault{attribute: replacedBlock, element: -1, err: errors.New("it is not an entry of the same call without a replacement")})
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

// hashFaults allows one hash of each scheme. With several, an attacker could add one for other content.
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

// holdsPassword finds less than holdsCredential in an address that was read, because other tools may have
// written query arguments.
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

// holdsCredential reports whether an address has what no lock has.
func holdsCredential(address string) bool {
	pkg := addrs.ParseModulePackage(address)
	return pkg.ForLock(true) != pkg
}
