package installer

import (
	"encoding/json"
	"io/fs"
	"iter"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/moduletree"
	"github.com/cotterpin/cotter/versions"
)

// Result describes an installed module tree.
type Result struct {
	Root       Module       // without a call, source or package
	Modules    []Module     // all others
	Unresolved []Unresolved // the modules that failed, beside an error or with the option BestEffort
	// Dialect is that of the project, or what the first of DialectSigns shows, or else a guess.
	Dialect        Dialect
	DialectSigns   []DialectSign
	DialectMatters bool // false if Dialect is a guess on which no address depends
	// LockFile is the path of the lock; "" if there is no file. LockContent is the new lock if that is no file.
	LockFile    string
	LockContent []byte
	LockChanges []LockChange // the entries that were added, changed or removed
	Outside     []error      // *ModuleErrors that wrap *[OutsideError], for which a run with Locked fails
	// Updates are the packages that differ from those of this user's last run although this run did not change their
	// entries, as after another branch was checked out. Only Path, Old (the entry of the last run) and New are set.
	Updates  []LockChange
	Restored []addrs.Module // the calls whose entries the lock had lost and has again
	// EarlierLock names an earlier version of the lock if the file did not exist, as [LockedError.Earlier] does.
	EarlierLock string
	// Providers are all providers, and ProviderChanges and ProviderUpdates are as LockChanges and Updates for
	// them, if the run included providers. An update whose Old and New are equal has another package.
	Providers       []Provider
	ProviderChanges []ProviderChange
	ProviderUpdates []ProviderChange
	Refetched       []Refetched // the packages that were downloaded only to confirm what was installed
}

// All returns all modules, the root module first. A nil *Result has none.
func (r *Result) All() iter.Seq[Module] {
	return func(yield func(Module) bool) {
		if r == nil || !yield(r.Root) {
			return
		}
		for _, m := range r.Modules {
			if !yield(m) {
				return
			}
		}
	}
}

// Module returns the module at a path, if there is one.
func (r *Result) Module(path addrs.Module) (Module, bool) {
	for m := range r.All() {
		if m.Path.String() == path.String() {
			return m, true
		}
	}
	return Module{}, false
}

// Module is one installed module.
type Module struct {
	// Path is empty for the root module. Its String method returns the key.
	Path addrs.Module
	// Call is the block that calls the module, and Source its parsed source address.
	Call   config.Call
	Source addrs.ModuleSource
	// Replaces is the address in the configuration if cotter.hcl replaces it by Source, as then in Call.
	Replaces addrs.ModuleSource
	// Version is zero if the source has no versions. Package is the immutable address of the package, and Hashes are its
	// hashes, as in the lock unless Call.Unlocked is set. A module in its caller's package, or in a directory of this
	// machine, has neither.
	Version versions.Version
	Package addrs.ModuleSourceRemote
	Hashes  []hashing.Hash
	// Evidence is who confirms the package, and since when, as far as is known without a request.
	Evidence evidence.Evidence
	// Dir is the module's directory as in modules.json: relative to the root module's unless [Project.ModulesDir] is absolute.
	Dir   string
	Files fs.FS `json:"-"` // of a module from [Session.Module], until the session is committed or closed
}

// UnmarshalJSON reads what package encoding/json writes.
func (m *Module) UnmarshalJSON(text []byte) error {
	type fields Module // without this method
	read := struct {
		*fields
		Source, Replaces addrs.ModuleSourceText
	}{fields: (*fields)(m)}
	err := json.Unmarshal(text, &read)
	m.Source, m.Replaces = read.Source.ModuleSource, read.Replaces.ModuleSource
	return err
}

// Unresolved is a module that could not be found or read.
type Unresolved = moduletree.Unresolved

// LockChange is a call whose entry in the lock is another one than before.
type LockChange struct {
	Path addrs.Module
	// Old and New are the entries. The Key of Old is "" if the entry was added, that of New if it was removed.
	Old, New lockfile.Module
	// ExcludedBy is the call if its constraint excludes the version of Old, and its source is the same.
	ExcludedBy *Caller
	Selection  event.Selection // why the new version was selected
	// Newer is the newest version that could have been selected instead, if the run had to list the versions.
	Newer versions.Version
	// OtherContent describes what has new content that the update accepted: "1.2.3 has OTHER CONTENT than the lock (...)".
	OtherContent string
	// Interface and Files are what has changed for the caller and in the package, if the former was installed.
	Interface []config.InterfaceChange
	Files     hashing.Changes
}

// Caller is a call whose constraint takes part in a conflict, or excludes a locked version.
type Caller struct {
	Path       addrs.Module
	Call       config.Call
	Constraint string // "" for any version
}

// Provider is one provider of a configuration.
type Provider struct {
	Address addrs.Provider
	// Version is zero for a provider that is not in the lock, which only Load returns.
	Version versions.Version
	// Constraints are the combined constraints of all modules, and Hashes cover all platforms, as in the lock.
	Constraints versions.ProviderConstraints
	Hashes      []hashing.Hash
	// LockedAs is the address in Terraform's registry under which the lock has the version that OpenTofu takes over from
	// there. Only Load sets it.
	LockedAs addrs.Provider
	// Dir is the package's directory, relative to the root module's.
	Dir        string
	RequiredBy []ProviderRequirement // none if only the lock has the provider
	// KeyID and Key are the ID, in upper-case hexadecimal, and the owner of the key whose signature was checked.
	KeyID, Key string
	// Evidence is who confirms the package for this machine. Only Load returns providers that nothing confirms.
	Evidence evidence.Evidence
}

// ProviderChange is a provider entry of the lock that a run changed.
type ProviderChange struct {
	Provider addrs.Provider
	// Old and New are versions; zero before an addition and after a removal.
	Old, New versions.Version
	// The rest is about entries whose version stays the same. Hashes is the number of added hashes.
	Hashes   int
	Unproven []addrs.Platform // those of the run for whose packages the old entry had no hash
	// Normalized says that the old hashes were not sorted, were repeated or had a scheme that stock tools do not know,
	// so that these would rewrite the lock.
	Normalized bool
	From       addrs.Provider        // the address in Terraform's registry of a version that OpenTofu has taken over
	ExcludedBy []ProviderRequirement // the places whose constraints exclude Old
}

// IsMoved reports whether the version stays the same, and only its registry is another one.
func (c ProviderChange) IsMoved() bool { return c.From != (addrs.Provider{}) && c.Old == c.New }

// OnlyHashes reports whether the old entry selects the same package and proves it. Stock tools with
// -lockfile=readonly only warn about such a change.
func (c ProviderChange) OnlyHashes() bool {
	return c.Old == c.New && !c.IsMoved() && len(c.Unproven) == 0
}

// Refetched is an installed package with the locked content that was downloaded again only because nothing that this
// user knows confirmed it: a stock tool or another user had installed it.
type Refetched struct {
	// Package is the package of a module, as in the lock, or the location of a provider's.
	Package string `json:"package"`
	// Provider is zero for the package of a module.
	Provider addrs.Provider `json:"provider,omitzero"`
	// Bytes is the number of bytes that were downloaded.
	Bytes int64 `json:"bytes"`
}
