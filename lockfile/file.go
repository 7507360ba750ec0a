package lockfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
)

// Name is the name of the lock file of stock tools.
const Name = ".terraform.lock.hcl"

// File is a lock file in memory: the bytes that were read, and the locked entries with unwritten changes.
// The zero value is a file that does not exist yet. A nil *File has no entries, and methods that change a
// file panic on it. A File is not safe for concurrent use.
type File struct {
	src       []byte
	modules   table[*Module]
	providers table[*Provider]
	bySource  []Module // module blocks of the later draft; see SourceModules

	tool   string // that a new header names
	ofFile string // the header of a new file; "" means that of Cotter
	// newHeader replaces the generated comment at the start of src, unless it is "".
	newHeader string

	providerBlocks []labeledSpan // all provider blocks in src, also those with errors
	items          int           // the number of blocks and arguments in src
	providerFaults hcl.Diagnostics
	unknownContent hcl.Diagnostics // arguments, and blocks that are neither modules nor providers
}

// orEmpty is for methods that only read.
func (f *File) orEmpty() *File { return cmp.Or(f, &File{}) }

// mustExist is for methods that change the file.
func (f *File) mustExist(method string) *File {
	if f == nil {
		panic("lockfile: " + method + " of a nil *File. Parse and ReadFile return nil with an error; a new file is &File{}")
	}
	return f
}

// Clone returns a copy that can be changed without changing f. The copy of nil is nil.
func (f *File) Clone() *File {
	if f == nil {
		return nil
	}
	clone := *f
	clone.modules, clone.providers = f.modules.clone(), f.providers.clone()
	return &clone
}

// NameTool sets the stock tool, "tofu" or "terraform", that the header comment of a new file names; the
// default is both. Another file keeps its comment, except that in a header of Cotter or of a stock tool the
// other tool's name is replaced, as stock tools do.
func (f *File) NameTool(tool string) {
	f.mustExist("NameTool").tool = tool
	if header := renamedHeader(cmp.Or(f.newHeader, commentAtStart(f.src)), tool); header != "" {
		f.newHeader = header
	}
}

// SetHeader sets the header comment of a new file, for programs that name themselves there. Each of its
// lines begins with "#"; "" means the header of Cotter. A file that is not empty keeps its comment.
func (f *File) SetHeader(comment string) { f.mustExist("SetHeader").ofFile = comment }

// RestoreHeader restores the header of Cotter from an earlier state of the file, if a stock tool has
// replaced it with its own.
func (f *File) RestoreHeader(former *File) {
	header := commentAtStart(former.orEmpty().src)
	if stockHeader(f.mustExist("RestoreHeader").src) != "" && strings.HasPrefix(header, ownHeader) {
		f.newHeader = header
	}
}

// Modules returns the locked modules, sorted by key.
func (f *File) Modules() []Module {
	return slices.DeleteFunc(contents(f.orEmpty().modules.values()), Module.IsDirectory)
}

// Module returns the module that is locked for a key, and whether there is one.
func (f *File) Module(key string) (Module, bool) {
	m, ok := f.orEmpty().modules.get(key)
	if !ok || m.IsDirectory() {
		return Module{}, false
	}
	return *m, true
}

// Directory returns the entry of a call whose package is replaced by a directory, and whether there is one.
func (f *File) Directory(key string) (Module, bool) {
	m, ok := f.orEmpty().modules.get(key)
	if !ok || !m.IsDirectory() {
		return Module{}, false
	}
	return *m, true
}

// Directories returns the entries of calls whose packages are replaced by directories, sorted by key. They
// are not locked.
func (f *File) Directories() []Module {
	return slices.DeleteFunc(contents(f.orEmpty().modules.values()), func(m Module) bool { return !m.IsDirectory() })
}

func contents[T any](pointers []*T) []T {
	values := make([]T, len(pointers))
	for i, p := range pointers {
		values[i] = *p
	}
	return values
}

// SetModule adds a module or a directory, or replaces the one with the same key. Setting an equal one is a
// no-op. [File.Check] checks the values.
func (f *File) SetModule(m Module) { f.mustExist("SetModule").modules.set(&m) }

// RemoveModule removes a module or a directory if the file has it.
func (f *File) RemoveModule(key string) { f.mustExist("RemoveModule").modules.remove(key) }

// SourceModules returns the module blocks in the format of the later draft of the proposal, in the order of
// the file. Their label is a source address, their Source, which all calls of that source share; several may
// have the same. They have no Key, and no Version or Hashes if the block has none in a form that is known.
// They are never written, and stay in the file as they are.
func (f *File) SourceModules() []Module { return slices.Clone(f.orEmpty().bySource) }

// Providers returns the locked providers in the order of stock tools, [addrs.Provider.Compare]. It leaves
// out blocks with errors; see [File.ProviderFaults].
func (f *File) Providers() []Provider { return contents(f.orEmpty().providers.values()) }

// Provider returns the provider that is locked for an address, and whether there is one.
func (f *File) Provider(address addrs.Provider) (Provider, bool) {
	p, ok := f.orEmpty().providers.get(providerKey(address))
	if !ok {
		return Provider{}, false
	}
	return *p, true
}

// SetProvider adds a provider or replaces the one with the same address, but no block with errors. Setting
// an equal one is a no-op. [File.Check] checks the values.
func (f *File) SetProvider(p Provider) { f.mustExist("SetProvider").providers.set(&p) }

// RemoveProvider removes a provider if the file has it.
func (f *File) RemoveProvider(address addrs.Provider) {
	f.mustExist("RemoveProvider").providers.remove(providerKey(address))
}

// SetProviders replaces all providers by those that an installation has selected, like the init of stock
// tools. It does nothing for the addresses, versions and lists of hashes that were read: other constraints
// are no reason to write a lock. Otherwise all provider blocks are written as stock tools write them, so
// that their next init does not write the file again, which would drop module blocks.
//
// Only then are the order and layout of blocks and the header normalized. A comment above a block stays
// above it. A block with a comment inside keeps its bytes if its values do not change.
func (f *File) SetProviders(all []Provider) {
	if f.mustExist("SetProviders").hasProviders(all) {
		return
	}
	f.providers.entries = nil
	for _, p := range all {
		f.SetProvider(p)
	}
	f.providers.rewritten = true
}

func (f *File) hasProviders(all []Provider) bool {
	if len(all) != len(f.providers.blocks) {
		return false
	}
	for _, p := range all {
		b, ok := f.providers.read[p.key()]
		if !ok || b.value.Version != p.Version || !slices.Equal(b.value.Hashes, uniqueHashes(p.Hashes)) {
			return false
		}
	}
	return true
}

// HasStockHashes reports whether stock tools would keep a provider's list of hashes that was read. They
// rewrite it if it is not sorted, repeats a hash, or has one of an unknown scheme. It returns true without
// such a provider.
func (f *File) HasStockHashes(address addrs.Provider) bool {
	b, ok := f.orEmpty().providers.read[providerKey(address)]
	return !ok || b.value.hasNormalHashes() && !slices.ContainsFunc(b.value.Hashes, hasForeignScheme)
}

// ProviderLabels returns the labels of all provider blocks that were read, in order, even of blocks with
// errors, and "" for a block without a label.
func (f *File) ProviderLabels() []string {
	var labels []string
	for _, b := range f.orEmpty().providerBlocks {
		labels = append(labels, b.label)
	}
	return labels
}

// ProviderFaults returns the errors in the provider blocks that were read. The file can be read despite
// them, because module blocks do not depend on them, but a provider with an error is not in
// [File.Providers]. A caller that installs providers must not treat it as unlocked.
func (f *File) ProviderFaults() hcl.Diagnostics { return slices.Clone(f.orEmpty().providerFaults) }

// StockFaults returns why the stock tool of a dialect does not read the file as its .terraform.lock.hcl, in
// order: the [File.ProviderFaults], addresses that only the other tool accepts, and other arguments and
// blocks, which a lock of modules in a file of its own may have. It returns only about 1,000.
func (f *File) StockFaults(dialect addrs.Parser) hcl.Diagnostics {
	f = f.orEmpty()
	faults := slices.Concat(f.providerFaults, f.unknownContent)
	for _, b := range f.providers.blocks {
		if _, err := dialect.ParseProviderSource(b.value.Address.String()); err != nil {
			faults = append(faults, failure("Invalid provider address", fmt.Sprintf("Provider %.300q: %s.", b.value.Address, err), &b.value.Range)...)
		}
	}
	slices.SortStableFunc(faults, func(a, b *hcl.Diagnostic) int { return cmp.Compare(a.Subject.Start.Byte, b.Subject.Start.Byte) })
	return faults
}
