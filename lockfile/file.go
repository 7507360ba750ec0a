package lockfile

import (
	"maps"
	"slices"
)

// File is a lock file in memory: the bytes that were read, and what the module
// blocks in them say or shall say. The zero value is a file that does not exist
// yet. A File is not safe for concurrent use.
type File struct {
	src           []byte
	entries       map[string]*entry
	blocks        []*block // the modules' blocks in src, in their order there
	byKey         map[string]*block
	foreign       []string
	providers     []string
	firstProvider int // offset of the first provider block, if there is any
	tool          string
}

// Clone returns a copy that can be changed without changing f.
func (f *File) Clone() *File {
	clone := *f
	clone.entries = maps.Clone(f.entries)
	return &clone
}

// NameTool has the comment of a new file name the stock tool whose providers it
// will have: "tofu" or "terraform". It names both otherwise. A file that is not
// empty keeps the comment that it has.
func (f *File) NameTool(tool string) { f.tool = tool }

// entry is a module as it shall be, and the block that says what it was.
type entry struct {
	module Module
	block  *block // nil for a module that is not in src
}

// block is a module's block in src.
type block struct {
	module     Module
	start, end int      // from the word "module" to behind the closing brace
	extras     []string // the source of unknown attributes and nested blocks
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

// Module returns the module locked for a key, and whether there is one.
func (f *File) Module(key string) (Module, bool) {
	e, ok := f.entries[key]
	if !ok {
		return Module{}, false
	}
	return e.module.normal(), true
}

// ForeignKeys returns the labels of module blocks in the later draft's format,
// which are source addresses, in the order of the file. Labels may repeat.
func (f *File) ForeignKeys() []string { return slices.Clone(f.foreign) }

// Providers returns the labels of the provider blocks, which are provider
// addresses such as "registry.opentofu.org/hashicorp/aws", in the order of the
// file. They are not checked.
func (f *File) Providers() []string { return slices.Clone(f.providers) }

// SetModule adds a module or replaces the one with the same key. To set what is
// set already changes nothing. Values are not checked here, but by
// [File.Check].
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

// RemoveModule removes a module, if the file has it.
func (f *File) RemoveModule(key string) { delete(f.entries, key) }

func (f *File) sorted() []*entry {
	sorted := make([]*entry, 0, len(f.entries))
	for _, key := range slices.Sorted(maps.Keys(f.entries)) {
		sorted = append(sorted, f.entries[key])
	}
	return sorted
}
