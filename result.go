package cotter

import (
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/installed"
	"github.com/cotterpin/cotter/internal/treeproviders"
)

// Result is an installed module tree.
type Result struct {
	// Root is the root module. It has no call, source or package.
	Root Module
	// Modules are all modules but the root module, in the order of their keys.
	Modules []Module
	// Unresolved are the modules that Load could not find, in the order of
	// their keys, where the request allows that there are some.
	Unresolved []Unresolved
	// Dialect is the one that was asked for or found out.
	Dialect Dialect
	// DialectMatters says that Install was told the dialect, found signs of it, or
	// had to assume it for a registry's address without a host. Otherwise it is a
	// default on which no address depends.
	DialectMatters bool
	// LockFile is the path of the dependency lock.
	LockFile string
	// LockChanges are the entries of the lock that were added, changed or
	// removed, in the order of their keys.
	LockChanges []LockChange
	// Vendored are the packages in Request.Vendor that were written or removed, in the
	// order of their keys.
	Vendored []VendorChange
	// Providers are all providers, in the order of the lock, if the run was about
	// providers, and ProviderChanges their entries of the lock that were added, changed
	// or removed.
	Providers       []Provider
	ProviderChanges []ProviderChange
}

// Module is one installed module.
type Module struct {
	// Path is the module's path from the root module; its String is the key in
	// modules.json and in the lock.
	Path addrs.Module
	// Call is the module block that calls it.
	Call ModuleCall
	// Source is the parsed source address.
	Source addrs.ModuleSource
	// Version is the selected version; "" where the source has none.
	Version string
	// Package is the immutable address of the package, as in the lock; "" for
	// a module inside its caller's package.
	Package string
	// Hashes are the package's, as in the lock; none for a module inside its
	// caller's package.
	Hashes []hashing.Hash
	// Dir is the module's directory, relative to the root module's, with
	// forward slashes, as in modules.json.
	Dir string
}

// Caller is the path of the module that calls this one; empty for the root module.
func (m Module) Caller() addrs.Module {
	if m.Path.IsRoot() {
		return nil
	}
	return m.Path[:len(m.Path)-1-len(m.Call.Prefix)]
}

// Unresolved is a module call whose module is not known.
type Unresolved struct {
	// Path is the called module's path. It is a module's own path where the
	// module is there, and its configuration cannot be read.
	Path addrs.Module
	// Call is the module block.
	Call ModuleCall
	// Source is the parsed source address; nil where it does not parse.
	Source addrs.ModuleSource
	// Err says why: a *ModuleError, or a *ConfigError.
	Err error
}

// LockChange is one entry of the lock that a run changed.
type LockChange struct {
	// Key is the call's path with dots.
	Key string
	// Old and New are versions, or packages where there is no version. Old is
	// "" for an entry that was added, New for one that was removed.
	Old, New string
	// OldConstraints and Constraints are the version constraints of the two entries.
	OldConstraints, Constraints string
	// OtherContent says that a version, tag or archive has other content now
	// under the same name, which the request accepted: "1.2.3 has OTHER CONTENT
	// than the lock (commit 7c1f791 -> 0d07f40)". "" otherwise.
	OtherContent string
	// Interface is what has changed for the module's caller, and Files what has
	// changed in its package. Both are empty for entries that were added or
	// removed, and where the former package was not installed.
	Interface []InterfaceChange
	Files     hashing.Changes
}

// Children are the modules that the module at path calls, in the order of
// their names. The empty path is the root module's.
func (r *Result) Children(path addrs.Module) []Module {
	var children []Module
	for _, m := range r.Modules {
		if m.Caller().String() == path.String() {
			children = append(children, m)
		}
	}
	return children
}

// VendorChange is a package that a run has written to Request.Vendor, or removed there.
type VendorChange struct {
	// Key is the path of the module call, with dots.
	Key string
	// Dir is the package's directory, relative to the root module's, with slashes.
	Dir string
	// Kind says what became of the package.
	Kind VendorChangeKind
}

// VendorChangeKind is what became of a vendored package.
type VendorChangeKind int

// The kinds of changes.
const (
	VendorAdded VendorChangeKind = iota
	VendorChanged
	VendorRemoved
)

// String is the kind in one word.
func (k VendorChangeKind) String() string { return [...]string{"added", "changed", "removed"}[k] }

// Report is what Verify found.
type Report struct {
	// Packages are all packages of the lock and all installed ones, in the
	// order of their keys.
	Packages []PackageReport
	// Providers are all providers of the lock, in its order. It is empty if the project
	// has no directory of providers.
	Providers []ProviderReport
	// Stale says where the configuration and the lock do not fit together, as
	// *ModuleError in the order of the modules' paths, and as *ProviderError in the
	// order of the lock. Providers are compared if the project has a directory of them.
	Stale []error
	// Misplaced says where modules.json, by which stock tools find modules, has
	// something else than the configuration and the lock: another directory,
	// say, whose files were not verified. They are *ModuleError in the order
	// of the modules' paths.
	Misplaced []error
	// Refused are providers of the lock and calls that the policy does not allow, as
	// *ProviderError and *ModuleError over *policy.Violation, in the order of the lock
	// and of the modules' paths. Below such calls nothing was compared with the
	// configuration.
	Refused []error
	// Unread is configuration that could not be read and was not compared with
	// the lock, as *ConfigError: for want of a variable's value, say. It is no
	// failure: what is installed was compared.
	Unread []error
	// Unfinished says that an installation was killed while it put modules
	// into their places. The next Install undoes that.
	Unfinished bool
	// Unproven are files below .terraform that this user did not write for this
	// project. They counted as absent.
	Unproven []string
}

// OK reports whether every package is installed and is what the lock says, and
// the lock is for this configuration, which the policy allows.
func (r *Report) OK() bool {
	return !r.Unfinished && len(r.Stale)+len(r.Misplaced)+len(r.Refused) == 0 &&
		!slices.ContainsFunc(r.Packages, func(p PackageReport) bool { return !p.intact() }) &&
		!slices.ContainsFunc(r.Providers, func(p ProviderReport) bool { return !p.intact() })
}

// Status is how an installed package compares with the lock.
type Status int

// The statuses of a package.
const (
	// StatusVerified is a package whose bytes are those of the lock, apart from
	// files that it was given since and that are no configuration.
	StatusVerified Status = iota
	// StatusChanged is a package with changed or vanished files, or with
	// configuration files that were added.
	StatusChanged
	// StatusMissing is a package of the lock that is not installed.
	StatusMissing
	// StatusUnlocked is an installed package that the lock has no entry for.
	StatusUnlocked
)

// String is the status in one word.
func (s Status) String() string {
	switch s {
	case StatusVerified:
		return "verified"
	case StatusChanged:
		return "changed"
	case StatusMissing:
		return "missing"
	}
	return "unlocked"
}

// PackageReport is how one installed package compares with the lock.
type PackageReport struct {
	// Key is the path of the module call, with dots.
	Key string
	// Vendored is the package's directory in Request.Vendor, relative to the root
	// module's, with slashes; "" if the request names none. Every file counts there.
	Vendored string
	Status   Status
	// Want are the lock's hashes, Got those of the installed files, of the
	// same schemes.
	Want, Got []hashing.Hash
	// Changes tells the files apart. It is empty where nothing differs, and
	// where the sums of the locked files are not kept beside the modules.
	Changes hashing.Changes
	// Err is why the installed files could not be read, if they could not.
	Err error
	// Unconfirmed says that no origin has confirmed the lock's entry to this
	// user, as far as Installer.StateDir tells: an edited lock can have been
	// installed by another tool. Vendored packages need no confirmation.
	Unconfirmed bool
}

// intact reports whether the package may stay as it is installed.
func (p *PackageReport) intact() bool { return p.Status == StatusVerified }

// ProviderReport is how one installed provider compares with the lock.
type ProviderReport struct {
	Provider addrs.Provider
	Version  string
	// Status is StatusVerified, StatusChanged or StatusMissing.
	Status Status
	// Want are the hashes that the lock has, Got is the h1 hash of what is installed.
	Want []hashing.Hash
	Got  hashing.Hash
	// Err is why the installed files could not be compared: because they cannot be
	// read, or because the lock has no hash that says anything about them.
	Err error
}

// intact reports whether the provider is installed and is what the lock says.
func (p *ProviderReport) intact() bool { return p.Status == StatusVerified && p.Err == nil }

// ErrNoComparableHash says that the lock has hashes of a provider's archives alone, and
// that it is not known what is in them.
var ErrNoComparableHash = treeproviders.ErrNoComparableHash

// Provider is one provider of a configuration.
type Provider struct {
	Address addrs.Provider
	// Version is the selected version.
	Version string
	// Constraints are those of all modules together, as in the lock; "" if there are
	// none.
	Constraints string
	// Hashes are those of the lock's entry, of all platforms that it covers.
	Hashes []hashing.Hash
	// Dir is the package's directory, relative to the root module's, with forward
	// slashes.
	Dir string
	// RequiredBy are the places that require it, in the order of the modules' paths.
	// It is empty for a provider that only the lock has.
	RequiredBy []ProviderUse
	// Location is where the package came from in this run, without credentials; "" if
	// it was there already, in the project or in the cache.
	Location string
	// KeyID is the id of the key that signed the package, in upper-case hexadecimal,
	// and Key its owner as the key has it; both are "" if no signature was checked.
	KeyID, Key string
}

// ProviderUse is a place in a module that requires a provider.
type ProviderUse = getproviders.ProviderUse

// ProviderChange is a provider's entry of the lock that a run changed.
type ProviderChange struct {
	Provider addrs.Provider
	// Old and New are versions. Old is "" for an entry that was added, New for one
	// that was removed.
	Old, New string
	// Hashes is how many hashes were added to an entry whose version stays.
	Hashes int
}

// statuses are the statuses of packages that have an entry.
var statuses = map[installed.Status]Status{
	installed.Verified: StatusVerified,
	installed.Changed:  StatusChanged,
	installed.Missing:  StatusMissing,
}
