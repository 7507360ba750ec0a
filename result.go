package cotter

import (
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
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

// InterfaceChange is one thing that a module declares to its callers and that a
// new version has changed.
type InterfaceChange struct {
	// Kind is "variable", "output" or "provider".
	Kind string
	// Name is the name of the variable or the output, or the local name of the
	// provider.
	Name string
	// Old and New are what was declared and what is: the type of a variable,
	// with "required " before it if it has no default; the source and the
	// version constraints of a provider; "declared" for an output. "" stands
	// for nothing: added, or removed.
	Old, New string
}

// String is the change in a few words.
func (c InterfaceChange) String() string {
	switch {
	case c.Old == "" && c.Kind == "output":
		return fmt.Sprintf("%s %q added", c.Kind, c.Name)
	case c.Old == "":
		return fmt.Sprintf("%s %q added: %s", c.Kind, c.Name, c.New)
	case c.New == "":
		return fmt.Sprintf("%s %q removed", c.Kind, c.Name)
	}
	return fmt.Sprintf("%s %q changed: %s -> %s", c.Kind, c.Name, c.Old, c.New)
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
