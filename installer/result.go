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
	"github.com/cotterpin/cotter/versions"
)

// Result describes an installed module tree.
type Result struct {
	// Root is the root module. It has no call, source or package.
	Root Module
	// Modules are all modules except the root module, in the order of their keys.
	Modules []Module
	// Unresolved are the modules that Load could not find, in the order of their keys, if
	// the options have BestEffort set.
	Unresolved []Unresolved
	// Dialect is the dialect of the project, or the detected one.
	Dialect Dialect
	// DialectSigns are the signs by which [DialectAuto] has detected it. The first one decides. If there
	// are none, and the project does not name a dialect, Dialect is a guess.
	DialectSigns []DialectSign
	// DialectMatters says that the dialect was given, was detected from signs, or
	// had to be assumed for a registry address without a host. Otherwise it is a default
	// that no address depends on.
	DialectMatters bool
	// LockFile is the path of the dependency lock; "" if the project has none.
	LockFile string
	// LockContent is the new lock if Project.LockContent has the lock; nil otherwise.
	LockContent []byte
	// LockChanges are the entries of the lock that were added, changed or removed, in the
	// order of their keys.
	LockChanges []LockChange
	// Updates are the packages that differ from those of this user's last run, although this
	// run did not change their entries in the lock: another branch was checked out, for
	// example. Old is the entry that the last run was made from; only Path, Old and New are
	// set. They are in the order of their keys. Calls that were not installed before are not
	// among them.
	Updates []LockChange
	// Restored are the calls whose entries the lock had lost and has again.
	Restored []addrs.Module
	// EarlierLock names an earlier version of the lock if the file did not exist: "the copy of
	// the last run" or "commit 3f2a91c (2026-10-02)". Restore can take its entries if the lock
	// file is removed again.
	EarlierLock string
	// Vendored are the packages in Project.Vendor that were written or removed, in the
	// order of their keys.
	Vendored []VendorChange
	// Providers are all providers, in the order of the lock, if the run included providers.
	// ProviderChanges are the provider entries of the lock that were added, changed or
	// removed.
	Providers       []Provider
	ProviderChanges []ProviderChange
	// ProviderUpdates are the providers that differ from those of this user's last run, although
	// this run did not change their entries in the lock; see Updates. If Old and New are equal,
	// the lock has another package of the version.
	ProviderUpdates []ProviderChange
	// Refetched are the packages that were downloaded only to confirm what was installed.
	Refetched []Refetched
}

// All returns all modules, the root module first and the others in the order of their keys. A nil
// *Result has none.
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
	// Path is the module's path from the root module. Its String method returns the key in
	// modules.json and in the lock.
	Path addrs.Module
	// Call is the module block that calls it.
	Call config.Call
	// Source is the parsed source address.
	Source addrs.ModuleSource
	// Replaces is the source address in the configuration, as in the lock, if the project's cotter.hcl
	// replaces it by Source, which then is in Call too; nil otherwise.
	Replaces addrs.ModuleSource
	// Version is the selected version; zero if the source has no versions.
	Version versions.Version
	// Package is the immutable address of the package, as in the lock; zero for a module in
	// its caller's package, or in a directory of this machine.
	Package addrs.ModuleSourceRemote
	// Hashes are the hashes of the package, as in the lock; empty for a module without one.
	Hashes []hashing.Hash
	// Evidence is who confirms the package, and since when, as far as this user knows without
	// a request. It is zero if nothing does, and for a module without a package.
	Evidence evidence.Evidence
	// Dir is the module's directory, relative to the root module's unless Project.ModulesDir is
	// absolute, with forward slashes, as in modules.json.
	Dir string
	// Files are the files of the module. Only [Session.Module] sets it, and they can be read until the
	// session is committed or closed, wherever they are until then.
	Files fs.FS `json:"-"`
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
type Unresolved struct {
	// Path is the called module's path. If the module was found but its configuration
	// cannot be read, it is the path of that module.
	Path addrs.Module
	// Call is the module block.
	Call config.Call
	// Source is the parsed source address; nil if it does not parse.
	Source addrs.ModuleSource
	// Err says why, as a *ModuleError or a *ConfigError.
	Err error
}

// LockChange is a call whose entry in the lock is another one than before.
type LockChange struct {
	// Path is the path of the module call.
	Path addrs.Module
	// Old and New are the entries before and after. The Key of Old is "" if the entry was
	// added, and that of New if it was removed.
	Old, New lockfile.Module
	// ExcludedBy is the call, if its constraint does not allow the version of Old. It is
	// nil if the constraint allows it, or if the call has another source now.
	ExcludedBy *Caller
	// Selection says why the new version was selected; event.SelectionUnknown for an entry that was
	// removed.
	Selection event.Selection
	// Newer is the newest version that could have been selected instead of that of New. It is zero if
	// there is none, and also if the run did not have to know the available versions.
	Newer versions.Version
	// OtherContent describes a version, tag or archive that has different content now,
	// which the update accepted: "1.2.3 has OTHER CONTENT than the lock (7c1f79137c1f ->
	// 0d07f4013f2a)". It is "" otherwise.
	OtherContent string
	// Interface is what has changed for the module's caller, and Files what has changed in
	// its package. Both are empty for entries that were added or removed, and if the former
	// package was not installed.
	Interface []config.InterfaceChange
	Files     hashing.Changes
}

// Caller is a call whose constraint takes part in a conflict, or excludes a locked version.
type Caller struct {
	// Path is the called module's path.
	Path addrs.Module
	// Call is the module block, with its file and line.
	Call config.Call
	// Constraint is the call's constraint; "" for any version.
	Constraint string
}

// VendorChange is a package that a run wrote to Project.Vendor or removed from there.
type VendorChange struct {
	// Path is the path of the module call.
	Path addrs.Module `json:"key"`
	// Dir is the package's directory, relative to the root module's, with slashes.
	Dir string `json:"dir"`
	// Kind is "added", "changed" or "removed".
	Kind string `json:"kind"`
}

// Provider is one provider of a configuration.
type Provider struct {
	Address addrs.Provider
	// Version is the selected version; zero for a provider that is not in the lock, which only
	// Load returns.
	Version versions.Version
	// Constraints are the combined constraints of all modules, as in the lock; zero if there
	// are none.
	Constraints versions.ProviderConstraints
	// Hashes are the hashes in the lock's entry, for all platforms that it covers.
	Hashes []hashing.Hash
	// LockedAs is the address in Terraform's registry under which the lock has the version,
	// if OpenTofu takes it over from there and the lock has no entry for Address yet. Only
	// Load sets it.
	LockedAs addrs.Provider
	// Dir is the package's directory, relative to the root module's, with forward slashes.
	Dir string
	// RequiredBy are the places that require the provider, in the order of the modules'
	// paths. It is empty for a provider that only the lock has.
	RequiredBy []ProviderRequirement
	// Location is where this run got the package, without credentials; "" if the package
	// was already in the project or in the cache.
	Location string
	// KeyID is the ID of the key that signed the package, in upper-case hexadecimal, and
	// Key the owner named in the key. Both are "" if no signature was checked.
	KeyID, Key string
	// Evidence is who confirms the package for this machine. Its kind is evidence.Project if
	// the project itself brings the package, for example in terraform.d/plugins. It is zero
	// if nothing is known to confirm it, which only Load returns.
	Evidence evidence.Evidence
}

// ProviderChange is a provider entry of the lock that a run changed.
type ProviderChange struct {
	Provider addrs.Provider
	// Old and New are versions. Old is zero if the entry was added, and New is zero if it was
	// removed.
	Old, New versions.Version
	// Hashes is the number of hashes that were added to an entry whose version stays the
	// same.
	Hashes int
	// Unproven are the platforms of the run for whose packages the old entry had no hash,
	// although its version stays the same.
	Unproven []addrs.Platform
	// Normalized reports that the old entry's hashes were not sorted, were repeated, or had a
	// scheme that stock tools do not know, although its version stays the same. Stock tools
	// rewrite a lock with such hashes.
	Normalized bool
	// From is the address in Terraform's registry under which the lock had the version Old,
	// if OpenTofu has taken it over from there; see [DialectOpenTofu]. It is zero otherwise.
	From addrs.Provider
	// ExcludedBy are the places whose constraints do not allow the version Old. It is empty
	// if the entry was added or removed.
	ExcludedBy []ProviderRequirement
}

// IsMoved reports whether the version stays the same, and only its registry is another one.
func (c ProviderChange) IsMoved() bool { return c.From != (addrs.Provider{}) && c.Old == c.New }

// OnlyHashes reports whether the old entry selects the same package and proves it, so that
// stock tools with -lockfile=readonly only warn about the difference.
func (c ProviderChange) OnlyHashes() bool {
	return c.Old == c.New && !c.IsMoved() && len(c.Unproven) == 0
}

// Refetched is a package that was installed already, with the locked content, and was downloaded
// again, because nothing that this user knows confirmed it. A stock tool or another user had
// installed it. The installed files are unchanged.
type Refetched struct {
	// Package is the package of a module, as in the lock, or the location of a provider's.
	Package string `json:"package"`
	// Provider is zero for the package of a module.
	Provider addrs.Provider `json:"provider,omitzero"`
	// Bytes is the number of bytes that were downloaded.
	Bytes int64 `json:"bytes"`
}
