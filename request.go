package cotter

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/detect"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/rules"
	"github.com/cotterpin/cotter/internal/vendordir"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/versions"
)

// lockFileName is the lock of stock tools.
const lockFileName = ".terraform.lock.hcl"

// Request is what one run is about.
type Request struct {
	// Dir is the root module's directory; "" means the current one.
	Dir string
	// DataDir is the data directory of stock tools, relative to Dir; "" means
	// ".terraform".
	DataDir string
	// LockFile is the dependency lock, relative to Dir; "" means
	// ".terraform.lock.hcl".
	LockFile string
	// Locked installs exactly what the lock says or fails with *LockedError. The
	// lock is not written.
	Locked bool
	// Providers has Install install the providers that the modules require as well. nil
	// means that they and their blocks in the lock stay as they are.
	Providers *Providers
	// Update says for which calls other versions are selected than the locked ones.
	Update Update
	// Unify makes all calls of one source share one version; where none suits
	// all of them, the error is a *[ConflictError].
	Unify bool
	// DryRun has Install find out what it would change and change nothing in the
	// project, where it makes no directory either. The packages are fetched into the
	// cache, and the result and the error are those of an installation.
	//
	// LockOnly has it write the lock and nothing else, for a later run to install the
	// modules. It excludes Locked. With both, DryRun counts.
	DryRun, LockOnly bool
	// Submodules has the submodules of git repositories fetched as well. The
	// hashes in the lock cover them then, so it has to be the same in all runs.
	Submodules bool
	// Offline asks no server: what is neither installed nor in the cache is an
	// error over [ErrOffline].
	Offline bool
	// PolicyFile is the path of the policy, in the form of package policy. ""
	// means cotter.hcl in Dir, or the nearest one above it in the same git
	// repository, that has a policy. Policies are to be obeyed as well.
	PolicyFile string
	Policies   []*policy.Policy
	// Vendor is a directory in the user's repository that has the packages, by the calls'
	// keys, relative to Dir, with slashes; "" means that they are in the data directory.
	// What is there is compared with the lock and used without asking origins, as it is
	// trusted like local modules. A package that is not what the lock says is a
	// *[VendorError]. Runs that change entries of the lock write their packages there.
	Vendor string
	// WriteVendor has Install write all packages of the lock to Vendor, and remove what
	// the lock does not have from there. Entries are confirmed by their origins.
	WriteVendor bool
	// Layout is how packages are laid out; the zero value is LayoutLinks.
	Layout Layout
	// BestEffort makes Load return what it finds, with all else in
	// Result.Unresolved instead of an error. Other methods ignore it.
	BestEffort bool
	// KeepCredentials leaves the credentials that users wrote into source addresses in
	// the results. Without it they are taken out.
	KeepCredentials bool
	// Dialect says which stock tool's conventions apply; the zero value finds it out.
	Dialect Dialect
	// Tools are the stock tools that the user has, for finding out the dialect:
	// see [DialectAuto]. The command takes them from PATH.
	Tools []Dialect
	// Inputs are the values on which sources and versions may depend.
	Inputs Inputs
	// Stores are asked before those of the Installer, for this project alone. Projects that
	// name the same store share what it has answered.
	Stores []PackageStore
	// ForDir returns the request for one root module of several, which InstallAll,
	// LockedPackages, LockedProviders and CacheKey call with the request that has its directory: for what
	// its settings say, for example. nil means that it stays as it is. Other methods ignore it.
	ForDir func(Request) (Request, error)
}

// Update says for which calls Install selects other versions than the locked ones.
// The zero value selects none.
type Update struct {
	// All selects versions as if nothing was locked. Keys does so for these calls
	// alone, by their paths with dots.
	All  bool
	Keys []string
	// Providers selects so for these providers; All does for each one. They are
	// addresses as in a configuration: without a host they mean the registry of the
	// request's dialect.
	Providers []string
	// To is the version to select for the one call in Keys; "" means the newest that
	// its constraint allows.
	To string
	// AllowDowngrade allows a version that is lower than the locked one, which is an
	// error over [ErrDowngrade] otherwise.
	AllowDowngrade bool
	// AcceptChanged are the calls, by their paths with dots, that may be locked with
	// other content under the same version, tag or address: see
	// [ContentChangedError].
	AcceptChanged []string

	// several says that there are other projects that may have what is named.
	several bool
}

// has reports whether another version is to be selected for a call.
func (u Update) has(key string) bool { return u.All || slices.Contains(u.Keys, key) }

// ErrNoVendor says that a request with WriteVendor names no directory.
var ErrNoVendor = errors.New("the project has no directory for vendored packages")

// check checks what can be checked without a configuration.
func (r Request) check() error {
	if r.Locked && r.LockOnly {
		return errors.New("a run cannot write only the lock and leave the lock as it is")
	}
	if r.WriteVendor && r.Vendor == "" {
		return ErrNoVendor
	}
	if r.Vendor != "" {
		if err := vendordir.CheckName(r.Vendor); err != nil {
			return err
		}
	}
	if r.Update.To == "" {
		return nil
	}
	if len(r.Update.Keys) != 1 {
		return errors.New("a version to update to needs just one module call to update")
	}
	_, err := versions.Parse(r.Update.To)
	return err
}

// places reports whether the request has packages put into their places.
func (r Request) places() bool { return !r.DryRun && !r.LockOnly }

// location says where the files of the request's project are.
func (r Request) location() project.Location {
	return project.Location{Dir: r.dir(), DataDir: r.dataPath(), LockFile: r.lockFile()}
}

func (r Request) dir() string      { return orElse(r.Dir, ".") }
func (r Request) dataDir() string  { return orElse(r.DataDir, ".terraform") }
func (r Request) lockFile() string { return orElse(r.LockFile, lockFileName) }

// dataPath is the data directory as this process reaches it.
func (r Request) dataPath() string {
	if filepath.IsAbs(r.dataDir()) {
		return r.dataDir()
	}
	return filepath.Join(r.dir(), r.dataDir())
}

// readRules reads the policies of the request.
func (r Request) readRules() (rules.Rules, error) {
	return rules.Read(r.dir(), r.PolicyFile, r.Policies)
}

// vendorDir opens the directory of vendored packages; nil if the request names none.
func (r Request) vendorDir() (*vendordir.Dir, error) {
	if r.Vendor == "" {
		return nil, nil
	}
	return vendordir.Open(r.dir(), r.Vendor, r.dataPath())
}

// orElse returns s, or otherwise if s is empty.
func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// Layout is how packages are laid out in .terraform/modules.
type Layout int

// The layouts. Both have every module in the directory where stock tools have
// it. LayoutLinks gives a call of a subdirectory a private copy of that
// directory, and of those that the module calls by local paths; the rest of the
// package is there once in the project, and reached by relative links. If the
// file system has no links, and with LayoutCopy, each call has a private copy of the
// whole package, as with stock tools.
const (
	LayoutLinks Layout = iota
	LayoutCopy
)

// Inputs are the values on which the sources and versions of module calls may
// depend. A value for a variable that does not exist, or that no source or version
// needs, is not looked at.
type Inputs struct {
	// Variables are the values of the root module's input variables. Of two for one
	// variable the later one counts, and both precede the module's own
	// terraform.tfvars and *.auto.tfvars.
	Variables []Variable
	// Environment are values by the variables' names that give way to those in the
	// module's own files. The command takes them from TF_VAR_NAME.
	Environment map[string]string
	// Workspace is the workspace's name; "" means the one that was selected with a
	// stock tool, or "default".
	Workspace string
	// TestDir is where the root module's tests are, beside those in its own
	// directory, relative to that; "" means "tests". The modules that tests run are
	// installed too.
	TestDir string
}

// Variable gives an input variable of the root module a value, or many theirs.
type Variable struct {
	// Name is the variable's name, and Value its value as on the command line
	// of stock tools: the text of a string, a number or a bool for a variable
	// of such a type or of none, and an expression of the HCL native syntax for
	// any other.
	Name, Value string
	// File is a file of values in the form of terraform.tfvars, or of JSON if
	// its name ends in ".json", relative to the root module's directory. It
	// counts where there is no Name.
	File string
}

// Dialect is the stock tool whose conventions apply: which registry an address
// without a host means, and which files are configuration.
type Dialect int

// The dialects.
const (
	// DialectAuto finds out which tool the project is for. The first of these signs
	// decides:
	//
	//  1. the hosts of the providers in the lock, and in .terraform.lock.hcl if
	//     that is another file
	//  2. the hosts of the modules in the lock
	//  3. files in the root module that only OpenTofu reads, *.tofu and
	//     *.tofu.json
	//  4. the hosts in modules.json
	//  5. the comment at the beginning of the lock: "tofu init" or "terraform
	//     init"
	//  6. .opentofu-version, .terraform-version, and opentofu or terraform in
	//     .tool-versions, in the nearest directory that has some, from the root
	//     module's up to that of the git repository
	//  7. a cloud block or a remote backend at app.terraform.io, which is also
	//     the host of one that names none
	//  8. a required_version that no version of OpenTofu meets
	//  9. Request.Tools, if it has one tool only and one of the user's own modules
	//     calls a registry's module without a host
	//
	// Without any of these it is OpenTofu's. In 1, 2 and 4 OpenTofu's registry
	// decides if both occur, and a module whose host the root module writes itself
	// is no sign. Symbolic links and irregular files are not read. A [Warning] says
	// what was assumed if the configuration calls a registry's module without a
	// host and the signs contradict each other or are absent.
	DialectAuto Dialect = iota
	DialectOpenTofu
	DialectTerraform
)

// ParseDialect parses "tofu", "terraform" or "auto".
func ParseDialect(s string) (Dialect, error) {
	switch s {
	case "", "auto":
		return DialectAuto, nil
	case "tofu", "opentofu":
		return DialectOpenTofu, nil
	case "terraform":
		return DialectTerraform, nil
	}
	return DialectAuto, fmt.Errorf("%q is neither \"tofu\" nor \"terraform\"", s)
}

// String is the name of the stock command.
func (d Dialect) String() string {
	switch d {
	case DialectOpenTofu:
		return "tofu"
	case DialectTerraform:
		return "terraform"
	}
	return "auto"
}

// other is the other stock tool.
func (d Dialect) other() Dialect {
	if d == DialectTerraform {
		return DialectOpenTofu
	}
	return DialectTerraform
}

// registryHost is the host that an address without one means.
func (d Dialect) registryHost() addrs.Hostname { return d.tool().RegistryHost() }

// parser parses source addresses as the stock tool does.
func (d Dialect) parser() addrs.Parser { return d.tool().Parser() }

// tool is the stock tool; OpenTofu if the dialect is not known.
func (d Dialect) tool() detect.Tool {
	if d == DialectTerraform {
		return detect.Terraform
	}
	return detect.OpenTofu
}

// Providers says what Install does with the providers that the modules require.
type Providers struct {
	// Only leaves the modules as they are. They must be installed.
	Only bool
	// Platforms are further platforms that the lock is to have the hashes of, beside
	// this machine's own. Their packages are not kept.
	Platforms []addrs.Platform
	// Prune drops the lock's entries of providers that no module requires. Without it
	// they stay, and are installed, unless the state of the project is a file in its
	// directory that does not need them: another state may.
	Prune bool
}

// only reports whether the modules are left as they are. p may be nil.
func (p *Providers) only() bool { return p != nil && p.Only }

// others are the platforms beside this machine's own, each once.
func (p *Providers) others() []addrs.Platform {
	var others []addrs.Platform
	for _, platform := range p.Platforms {
		if platform != addrs.CurrentPlatform() && !slices.Contains(others, platform) {
			others = append(others, platform)
		}
	}
	return others
}

// inDir returns the request for one root module of several.
func (r Request) inDir(dir string) (Request, error) {
	r.Dir = dir
	if r.ForDir == nil {
		return r, nil
	}
	return r.ForDir(r)
}

// dialectOf is the dialect of a stock tool.
func dialectOf(tool detect.Tool) Dialect {
	if tool == detect.Terraform {
		return DialectTerraform
	}
	return DialectOpenTofu
}

// tools are the stock tools that the user has.
func (r Request) tools() []detect.Tool {
	var tools []detect.Tool
	for _, t := range r.Tools {
		if t != DialectAuto {
			tools = append(tools, t.tool())
		}
	}
	return tools
}
