package moduletree

import (
	"encoding/json"
	"iter"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// Project is a root module, and how it is read. The zero value is the root module in the current directory. DataDir,
// ModulesDir and LockFile are relative to Dir or absolute.
type Project struct {
	Dir        string // the root module's directory; "" means the current directory
	DataDir    string // the data directory of stock tools; "" means ".terraform"
	ModulesDir string // the directory of installed modules; "" means "modules" in DataDir
	LockFile   string // the dependency lock; "" means ".terraform.lock.hcl"

	Inputs  config.Inputs  // the values that sources and versions may depend on
	Dialect config.Dialect // the stock tool that the project is for; DialectAuto detects it
	// Config reads the configuration; nil means the reader that package installer uses.
	Config config.Reader
	// KeepCredentials keeps them in source addresses in the tree.
	KeepCredentials bool
}

// Tree is the module tree of a project.
type Tree struct {
	Root    Module   // without a call, source or package
	Modules []Module // all others, sorted by path
	// Unresolved are the modules that are neither installed nor locked for the source in the configuration, and those
	// that could not be read completely. Calls below them may be missing.
	Unresolved []Unresolved
	Dialect    config.Dialect // that of the project, or the detected one
	Lock       *lockfile.File `json:"-"` // as it was read; without entries if there is no lock
}

// Module is one module of a tree.
type Module struct {
	// Path is empty for the root module. Its String method returns the key in modules.json and the lock.
	Path addrs.Module
	// Call is the block that calls the module, with its constraint and its ranges, and Source its parsed source address.
	// The lock does not say where a call in a package is that is not installed: its ranges are empty.
	Call   config.Call
	Source addrs.ModuleSource
	// Replaces is the address in the configuration if cotter.hcl replaces it by Source, as then in Call.
	Replaces addrs.ModuleSource
	// Constraints are the parsed version constraints of the call, also those in a source address.
	Constraints versions.Constraints
	// Version is that in the lock or, without an entry, in modules.json; zero if the source has no versions.
	Version versions.Version
	// Installed is the version by modules.json of what is in Dir. If it is not Version, the lock has changed since the
	// installation, and the rest of its entry is not about Dir either. It is zero for sources for which modules.json has
	// no versions, such as git.
	Installed versions.Version
	// Package is the immutable address of the package, and Hashes are its hashes, as in the lock. A module in its
	// caller's package or in a directory of this machine has neither.
	Package addrs.ModuleSourceRemote
	Hashes  []hashing.Hash
	// Dir is the module's directory as in modules.json: relative to the root module's unless [Project.ModulesDir] is
	// absolute, with forward slashes. It is "" if the module is known only from the lock.
	Dir string
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
	// Path is that of the called module, or of the module whose configuration cannot be read.
	Path addrs.Module
	// Call is the block, and Source its parsed address; nil if it does not parse.
	Call   config.Call
	Source addrs.ModuleSource
	// Err is a *[config.ModuleError] or a *[config.Error].
	Err error
}

// All returns all modules, the root module first. A nil *Tree has none.
func (t *Tree) All() iter.Seq[Module] {
	return func(yield func(Module) bool) {
		if t == nil || !yield(t.Root) {
			return
		}
		for _, m := range t.Modules {
			if !yield(m) {
				return
			}
		}
	}
}

// Module returns the module at a path, if there is one.
func (t *Tree) Module(path addrs.Module) (Module, bool) {
	for m := range t.All() {
		if m.Path.String() == path.String() {
			return m, true
		}
	}
	return Module{}, false
}

// Called returns the modules that the module at a path calls.
func (t *Tree) Called(path addrs.Module) iter.Seq[Module] {
	return func(yield func(Module) bool) {
		for m := range t.All() {
			if !m.Path.IsRoot() && m.Call.Caller(m.Path).String() == path.String() && !yield(m) {
				return
			}
		}
	}
}
