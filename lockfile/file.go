package lockfile

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
)

// File is a lock file in memory: the bytes that were read, and the locked modules and
// providers, with changes that are not written yet. The zero value is a file that does not
// exist yet. A File is not safe for concurrent use.
type File struct {
	src     []byte
	entries map[string]*entry
	blocks  []*block // the module blocks in src, in the order of src
	byKey   map[string]*block
	foreign []string
	tool    string
	// newHeader replaces the comment at the start of src, which is a generated one; "" keeps
	// the comment.
	newHeader string

	providers      map[addrs.Provider]*providerEntry
	providerBlocks []*providerBlock // those without errors, in the order of src
	providerBy     map[addrs.Provider]*providerBlock
	providerLabels []string // of all provider blocks in src
	firstProvider  int      // offset of the first provider block, if there is one
	providerFaults hcl.Diagnostics
	unknownContent hcl.Diagnostics // arguments, and blocks that are neither modules nor providers
	// rewritesProviders says that all provider blocks are written as stock tools write them.
	rewritesProviders bool
}

// Clone returns a copy that can be changed without changing f.
func (f *File) Clone() *File {
	clone := *f
	clone.entries = maps.Clone(f.entries)
	clone.providers = maps.Clone(f.providers)
	return &clone
}

// NameTool sets the stock tool, "tofu" or "terraform", that the header comment of a new
// file names. By default the comment names both. A file that is not empty keeps its
// comment, except for a header of Cotter or of a stock tool that names the other tool: the
// name is replaced, as stock tools do when they write the file.
func (f *File) NameTool(tool string) {
	f.tool = tool
	if header := renamedHeader(cmp.Or(f.newHeader, commentAtStart(f.src)), tool); header != "" {
		f.newHeader = header
	}
}

// RestoreHeader restores the header comment of an earlier state of the file, if that was a
// header of Cotter and a stock tool has replaced it with its own. All other comments stay.
func (f *File) RestoreHeader(former *File) {
	header := commentAtStart(former.src)
	if stockHeader(f.src) != "" && strings.HasPrefix(header, ownHeader) {
		f.newHeader = header
	}
}

// entry is a module to be written, with the block that it replaces.
type entry struct {
	module Module
	block  *block // nil for a module that is not in src
}

// block is a module's block in src.
type block struct {
	module Module
	span            // from the word "module" to after the closing brace
	extras []string // the source of unknown attributes and nested blocks
}

func (e *entry) changed() bool { return e.block == nil || !e.module.Equal(e.block.module) }

// Modules returns the locked modules, sorted by key.
func (f *File) Modules() []Module {
	modules := make([]Module, 0, len(f.entries))
	for _, e := range f.sorted() {
		modules = append(modules, e.module.normal())
	}
	return modules
}

// Module returns the module that is locked for a key, and whether there is one.
func (f *File) Module(key string) (Module, bool) {
	e, ok := f.entries[key]
	if !ok {
		return Module{}, false
	}
	return e.module.normal(), true
}

// ForeignKeys returns the labels of the module blocks in the format of a later draft, which
// are source addresses. They are in the order of the file, and may repeat.
func (f *File) ForeignKeys() []string { return slices.Clone(f.foreign) }

// SetModule adds a module or replaces the one with the same key. Setting an equal
// module is a no-op. Values are checked by [File.Check].
func (f *File) SetModule(m Module) {
	if f.entries == nil {
		f.entries = map[string]*entry{}
	}
	e := &entry{module: m.normal(), block: f.byKey[m.Key]}
	if !e.changed() {
		e.module.Range = e.block.module.Range
	}
	f.entries[m.Key] = e
}

// RemoveModule removes a module if the file has it.
func (f *File) RemoveModule(key string) { delete(f.entries, key) }

func (f *File) sorted() []*entry {
	sorted := make([]*entry, 0, len(f.entries))
	for _, key := range slices.Sorted(maps.Keys(f.entries)) {
		sorted = append(sorted, f.entries[key])
	}
	return sorted
}

// Module is one locked module call.
type Module struct {
	// Key is the dotted path of module calls, from addrs.Module.
	Key string
	// Version is the selected version; "" if the source has no versions.
	Version string
	// Source is the canonical source address, with the registry host and the
	// subdirectory, without credentials.
	Source string
	// Constraints is the call's version constraint as written; "" if there is none.
	Constraints string
	// Package is the immutable address of the fetched package; "" in files of tools that do
	// not record it. It is a pin: the address that Source resolves to is compared with it.
	// A package is never fetched from Package without that comparison.
	Package string
	// Hashes are the package's hashes, sorted, at most one of each scheme. At
	// least one of them is Strong.
	Hashes []hashing.Hash
	// Range is the header of the block in the file that was read; zero for a module that
	// was set. Equal ignores it.
	Range hcl.Range
}

// Equal reports whether two modules have equal fields, except for Range.
func (m Module) Equal(other Module) bool {
	m, other = m.normal(), other.normal()
	return m.Key == other.Key && m.Version == other.Version && m.Source == other.Source &&
		m.Constraints == other.Constraints && m.Package == other.Package && slices.Equal(m.Hashes, other.Hashes)
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

// normal returns m with a sorted copy of its hashes.
func (m Module) normal() Module {
	m.Hashes = slices.Clone(m.Hashes)
	slices.Sort(m.Hashes)
	return m
}
