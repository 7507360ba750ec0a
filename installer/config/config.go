package config

import (
	"context"
	"io/fs"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// Reader reads the configuration of one directory.
type Reader interface {
	// ReadModule returns the calls and requirements of the module in one directory. It is
	// called once in a run for each module, after its caller's, from several goroutines.
	// The calls that it returns beside error diagnostics are followed too, but the
	// installation fails unless installer.InstallOptions.AllowConfigErrors is set. Warnings are passed on.
	ReadModule(ctx context.Context, dir Dir) (Module, hcl.Diagnostics)
}

// Module is the part of a module's configuration that an installation needs.
type Module struct {
	// Calls are the module calls, sorted by name.
	Calls []Call
	// Providers are the provider requirements, in the order of files and lines. A reader
	// for programs that do not install providers may leave them out.
	Providers []ProviderRequirement
	// ProviderDiagnostics are about the requirements only. Errors in them end an
	// installation of providers, but not one of modules. The Extra of an error about one
	// provider can be a *[ProviderError], which installer.ProviderErrors then finds.
	ProviderDiagnostics hcl.Diagnostics
}

// Dir is a module's directory, as passed to a Reader.
type Dir struct {
	Path addrs.Module
	// Dir is the current path of the directory.
	Dir string
	// Files are those of the module's package, and Subdir is the directory in them. Links in
	// them lead only to files of the package, also where the directory of a call has links to
	// one copy of the package. For the user's own modules, Files is nil and Dir is read.
	Files  fs.FS
	Subdir string
	// Display is the directory as ranges must name it: the final directory of the files,
	// after the run, relative to the root module.
	Display string
	// Terraform says that the configuration is Terraform's. Otherwise it is OpenTofu's.
	Terraform bool
	// Providers says that the run needs the provider requirements.
	Providers bool
}

// Call is one "module" block.
type Call struct {
	// Name is the block's label, or the name of the run block in a test. A call whose Name or
	// Prefix cannot be in a path is an error that wraps an *[addrs.ParseError].
	Name string
	// Prefix has the names before Name in the path of a module that a test runs: "test",
	// the directories and the file, each split at its dots. It is empty for all other modules.
	Prefix addrs.Module
	Source string
	// Version is nil if there is no version argument, or if it is null.
	Version *string
	// Allowed, which may be nil, narrows the versions that Version allows. It is for programs that have
	// a set of versions and no text. The lock has Constraints for it.
	Allowed func(versions.Version) bool `json:"-"`
	// Constraints, which may be "", is the version constraint that Allowed stands for, as the lock is to record it. It
	// selects nothing, and counts only without Version.
	Constraints string `json:",omitempty"`
	// Unlocked says that the lock has no entry for the call, nor for any call below it: each run takes the version that is
	// installed if it fits, or else the newest, also if the run changes no lock. It is for programs that lock only some
	// modules. It counts for calls in the project's own modules: a package cannot make its modules unlocked. Reports name
	// such calls and never count them as verified, and they are not copied to bundles and mirrors.
	Unlocked bool `json:",omitempty"`
	// SourceComputed and VersionComputed say that the arguments are expressions, so
	// messages should show their values, and the lock must not have all of them. A Reader must
	// set SourceComputed unless the source is a literal in a file that readers of the lock can
	// read too.
	SourceComputed, VersionComputed bool
	// Range is the header of the block. SourceRange and VersionRange are the expressions of
	// the arguments.
	Range, SourceRange, VersionRange hcl.Range
}

// Caller returns the path of the module that has the block, given the path of the called module.
func (c Call) Caller(path addrs.Module) addrs.Module {
	return path[:max(len(path)-1-len(c.Prefix), 0)]
}

// PathIn returns the path of the called module, given the path of its caller.
func (c Call) PathIn(caller addrs.Module) addrs.Module {
	for _, name := range c.Prefix {
		caller = caller.Child(name)
	}
	return caller.Child(c.Name)
}
