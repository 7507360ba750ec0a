package installer

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/detect"
	"github.com/cotterpin/cotter/internal/evidencerules"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/rules"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/versions"
)

// lockFileName is the lock of stock tools.
const lockFileName = ".terraform.lock.hcl"

// Request describes one run.
type Request struct {
	// Dir is the root module's directory; "" means the current directory.
	Dir string
	// DataDir is the data directory of stock tools, relative to Dir or absolute; "" means
	// ".terraform". Providers are installed below it.
	DataDir string
	// ModulesDir is the directory of installed modules, relative to Dir or absolute; "" means
	// "modules" in DataDir, the only place where stock tools look for it. It may be on another
	// file system.
	ModulesDir string
	// LockFile is the dependency lock, relative to Dir or absolute; "" means
	// ".terraform.lock.hcl". It may be on another file system; its directory must exist. A lock
	// below Dir with another name than ".terraform.lock.hcl" has only the modules. All others have
	// the providers too.
	//
	// The lock and the modules directory change together: after an error both are as they were,
	// and a run that was killed is undone by the next run with the same ModulesDir. Two projects
	// that share a lock elsewhere do not wait for each other; the second one fails if the first
	// one has changed the lock meanwhile.
	LockFile string
	// LockContent is the lock, if it is not nil: no lock file is read or written, and
	// Result.LockContent is the new lock. Empty content is a lock without entries.
	LockContent []byte
	// NoLock makes the run neither read nor write a lock. As with stock tools, a module that is
	// installed stays at its version while that fits, and for others the newest version is
	// selected.
	NoLock bool
	// OnEvent is called with each event of the run. nil means Installer.OnEvent. Package event
	// says what a callback can rely on.
	OnEvent func(Event)
	// Locked installs exactly what the lock says or fails with *LockedError. The lock is
	// not written.
	Locked bool
	// Providers makes Install also install the providers that the modules require, and Load,
	// Outdated, VerifyRemote and LockedPackages also return those of the configuration or the
	// lock. If it is nil, providers and their blocks in the lock are not touched.
	Providers *Providers
	// ProviderSource is the source of providers for this project. Projects with mirrors below
	// their own directories need different ones. nil means Installer.Providers, whose answers
	// projects share.
	ProviderSource getproviders.Source
	// KeepStateAddresses takes the addresses of providers in a state as they are. Without it,
	// as in OpenTofu, the providers of Terraform's registry in a state are those of
	// OpenTofu's registry, unless the configuration names them with Terraform's. In the
	// terraform dialect, they are always taken as they are. The cotter command sets this if
	// OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION is 0.
	KeepStateAddresses bool
	// Update selects the calls and providers that are updated from their locked versions.
	Update Update
	// Unify makes all calls of one source share one version. If no version meets all of
	// their constraints, the error is a *[ConflictError].
	Unify bool
	// DryRun makes Install compute its changes without making them: nothing in the project
	// changes, and no directory is created there. Packages are still fetched into the
	// cache, and the result and the error are those of a real installation.
	//
	// LockOnly makes Install write only the lock; a later run can install the modules. It
	// cannot be combined with Locked. If DryRun is also set, nothing is written.
	DryRun, LockOnly bool
	// Submodules also fetches the submodules of git repositories. They are then covered by
	// the hashes in the lock, so the setting must be the same in all runs.
	Submodules bool
	// AcceptUnreachable names the calls whose locked commits are
	// accepted although no branch or tag of their repository contains them; see
	// [UnreachableError]. They are then accepted for all calls of the same source.
	AcceptUnreachable []addrs.Module
	// Offline forbids requests to servers. A package that is neither installed nor in the
	// cache is an error that wraps [ErrOffline].
	Offline bool
	// PolicyFiles are the paths of policies, in the format of package policy. They and Policies
	// are applied in addition to the project's policy: the one in cotter.hcl in Dir, or in the
	// nearest one above it in the same git repository that contains a policy. All of them must
	// allow what is done. If the field Only of one is set, the project's policy is not read.
	PolicyFiles []string
	Policies    []*policy.Policy
	// Vendor is a directory in the user's repository with a directory for each call's
	// package, named by the call's key. It is relative to Dir, with slashes; "" means that
	// packages are in the data directory. Vendored packages are compared with the lock and
	// used without asking origins, because they are trusted like local modules. A package
	// that does not match the lock is a *[VendorError] if Locked is set. Other runs write the
	// packages of the lock to Vendor once they are confirmed, and remove those that the lock no
	// longer has. So does LockOnly, which then also writes modules.json.
	Vendor string
	// Layout is the layout of installed packages; the zero value is LayoutLinks.
	Layout Layout
	// AllowConfigErrors makes Install go on if not all of the configuration can be read, as
	// terraform init and tofu get do. It installs the calls that could be read, and returns a
	// complete result beside the *[ConfigError] of each module that could not. Below these
	// modules, entries of the lock, records and packages stay as they are if they belong to
	// calls that were not seen. Providers are not installed, because what the unread files
	// require is not known. Any other error still makes Install fail, and so does a
	// *ConfigError in a request with Vendor.
	AllowConfigErrors bool
	// BestEffort makes Load return the modules that it finds, and list the others in
	// Result.Unresolved instead of returning an error. Other methods ignore it.
	BestEffort bool
	// FromLock makes Load return modules that are not installed from their entries in the lock, with
	// an empty Dir, and all providers in the lock if there are such modules. The calls in their packages
	// have no position. Local modules in them are left out. [Installer.Outdated] always does so. Other
	// methods ignore it.
	FromLock bool
	// KeepCredentials keeps the credentials in source addresses in the results. Without it,
	// they are removed.
	KeepCredentials bool
	// Dialect says which stock tool's conventions apply; the zero value detects it.
	Dialect Dialect
	// Tools are the stock tools that the user has. They help to detect the dialect; see
	// [DialectAuto]. The cotter command finds them in PATH.
	Tools []Dialect
	// Next is the stock tool that runs after this run, if that is known. It does not decide
	// the dialect: if another tool was detected, an [event.Warning] says so.
	Next Dialect
	// Inputs are the values that sources and versions may depend on.
	Inputs config.Inputs
	// Stores are asked before the stores of the Installer, for this project only. Projects
	// with the same store share its answers.
	Stores []PackageStore
	// ForDir returns the request for one root module of several, for example with the
	// settings of that module. InstallAll and LockedPackages
	// call it with a request whose Dir is set. nil means that the request is used
	// unchanged. Install refuses a request with it, and other methods ignore it.
	ForDir func(Request) (Request, error)
}

// Event is something that happened in a run: one of the structs of package event.
type Event = event.Event

// InvalidRequestError says that a request contradicts itself, or that a field has a value that it
// cannot have, or that the called method cannot do what a field asks for. All methods of [Installer]
// return it before they do anything.
type InvalidRequestError struct {
	// Fields are the fields of [Request] that are wrong or that exclude each other, such as
	// "Locked" and "Update.All".
	Fields []string
	// Reason says why.
	Reason string
	// Err is the error about the value of the only field, if there is one.
	Err error
}

func (e *InvalidRequestError) Error() string {
	text := orElse(e.Reason, "the request is not valid")
	if e.Reason == "" && e.Err != nil {
		text = e.Err.Error()
	}
	if len(e.Fields) == 0 {
		return text
	}
	return fmt.Sprintf("%s (in the request: %s)", text, strings.Join(e.Fields, ", "))
}

func (e *InvalidRequestError) Unwrap() error { return e.Err }

// check returns an *[InvalidRequestError] if parts of the request that do not depend on the
// configuration are wrong. Methods that only read check what they ignore too, because a request is
// often used for several methods.
func (r Request) check() error {
	only, updates := r.Providers.only(), r.Update.fields()
	for _, rule := range []struct {
		isBroken bool
		reason   string
		fields   []string
	}{
		{r.Locked && r.LockOnly, "a run cannot write only the lock and leave the lock as it is", []string{"Locked", "LockOnly"}},
		{r.Locked && len(updates) > 0, "a run that leaves the lock as it is cannot update", append([]string{"Locked"}, updates...)},
		{r.NoLock && r.LockContent != nil, "a run without a lock has no lock content", []string{"NoLock", "LockContent"}},
		{r.NoLock && r.LockFile != "", "a run without a lock has no lock file", []string{"NoLock", "LockFile"}},
		{r.LockContent != nil && r.LockFile != "", "the lock is either the content or the file", []string{"LockContent", "LockFile"}},
		{r.NoLock && r.Locked, "a run without a lock cannot install what the lock says", []string{"NoLock", "Locked"}},
		{r.NoLock && r.LockOnly, "a run without a lock cannot write it", []string{"NoLock", "LockOnly"}},
		{r.NoLock && r.Vendor != "", "vendored packages are compared with the lock", []string{"NoLock", "Vendor"}},
		{only && len(r.Update.Keys) > 0, "the run does not touch modules", []string{"Providers.Only", "Update.Keys"}},
		{r.Providers == nil && len(r.Update.Providers) > 0, "the run does not touch providers", []string{"Providers", "Update.Providers"}},
		{r.Update.To != "" && len(r.Update.Keys) != 1, "a version to update to needs just one module call to update", []string{"Update.To", "Update.Keys"}},
		{hasPath(r.Update.Keys, ""), "the root module cannot be updated", []string{"Update.Keys"}},
		{r.Layout != LayoutLinks && r.Layout != LayoutCopy, "there is no such layout", []string{"Layout"}},
		{!r.Dialect.isKnown(), "there is no such dialect", []string{"Dialect"}},
		{!r.Next.isKnown(), "there is no such dialect", []string{"Next"}},
	} {
		if rule.isBroken {
			return &InvalidRequestError{Fields: rule.fields, Reason: rule.reason}
		}
	}
	if r.Vendor != "" {
		if err := project.CheckVendorDir(r.Vendor); err != nil {
			return &InvalidRequestError{Fields: []string{"Vendor"}, Err: err}
		}
	}
	if r.Update.To != "" {
		if _, err := versions.Parse(r.Update.To); err != nil {
			return &InvalidRequestError{Fields: []string{"Update.To"}, Err: err}
		}
	}
	return nil
}

// checkWithLock is check for methods that are about the entries of a lock.
func (r Request) checkWithLock() error {
	err := r.check()
	if err == nil && r.NoLock {
		err = &InvalidRequestError{Fields: []string{"NoLock"}, Reason: "the run is about the entries of a lock"}
	}
	return err
}

// checkForInstall is check for Install, which installs one root module.
func (r Request) checkForInstall() error {
	err := r.check()
	if err == nil && r.ForDir != nil {
		err = &InvalidRequestError{Fields: []string{"ForDir"}, Reason: "only runs of several root modules call the function"}
	}
	return err
}

// checkForLoad is check for Load, which reads what is installed.
func (r Request) checkForLoad() error {
	err := r.check()
	if fields := r.Update.fields(); err == nil && len(fields) > 0 {
		err = &InvalidRequestError{Fields: fields, Reason: "a run that only reads what is installed cannot update"}
	}
	return err
}

// checkForRestore is check for Restore, which changes the lock file.
func (r Request) checkForRestore() error {
	err := r.checkWithLock()
	switch {
	case err != nil:
		return err
	case r.LockContent != nil:
		return &InvalidRequestError{Fields: []string{"LockContent"}, Reason: "only a lock file can be restored"}
	case r.DryRun:
		return &InvalidRequestError{Fields: []string{"DryRun"}, Reason: "restoring changes the lock file"}
	}
	return nil
}

// isKnown reports whether the value is one of the constants.
func (d Dialect) isKnown() bool { return d >= DialectAuto && d <= DialectTerraform }

// run returns the kind of run that the request describes, which decides what evidence is enough.
func (r Request) run() evidencerules.Run {
	switch {
	case r.Locked:
		return evidencerules.Locked
	case r.LockOnly && r.DryRun:
		return evidencerules.LockCheck
	case r.LockOnly:
		return evidencerules.Lock
	case r.Update.All || len(r.Update.Keys)+len(r.Update.Providers) > 0:
		return evidencerules.Update
	}
	return evidencerules.Install
}

// installs reports whether the request puts packages in their places.
func (r Request) installs() bool { return !r.DryRun && !r.LockOnly }

// placesModules is installs for the packages of modules. Vendored packages belong to the lock.
func (r Request) placesModules() bool { return !r.DryRun && (!r.LockOnly || r.Vendor != "") }

// location returns the paths of the project's files.
func (r Request) location() project.Location {
	return project.Location{Dir: r.dir(), DataDir: r.dataPath(), ModulesDir: r.givenModulesPath(), LockFile: r.lockFile(), NoLockFile: !r.hasLockFile()}
}

// hasLockFile reports whether the lock is a file.
func (r Request) hasLockFile() bool { return !r.NoLock && r.LockContent == nil }

// lockPath returns the path of the lock file for this process.
func (r Request) lockPath() string { return r.below(r.lockFile()) }

// below returns the path for this process of a path that is relative to Dir or absolute.
func (r Request) below(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.dir(), name)
}

func (r Request) dir() string      { return orElse(r.Dir, ".") }
func (r Request) dataDir() string  { return orElse(r.DataDir, ".terraform") }
func (r Request) lockFile() string { return orElse(r.LockFile, lockFileName) }

// dataPath returns the path of the data directory for this process.
func (r Request) dataPath() string { return r.below(r.dataDir()) }

// modulesDir returns the directory of installed modules, relative to Dir or absolute, and
// modulesPath returns its path for this process.
func (r Request) modulesDir() string {
	return orElse(r.ModulesDir, filepath.Join(r.dataDir(), "modules"))
}
func (r Request) modulesPath() string { return r.below(r.modulesDir()) }

// givenModulesPath returns the path of the modules directory if the request names one, and ""
// otherwise.
func (r Request) givenModulesPath() string {
	if r.ModulesDir == "" {
		return ""
	}
	return r.modulesPath()
}

// readRules reads the policies of the request.
func (r Request) readRules() (rules.Rules, error) {
	return rules.Read(r.dir(), r.PolicyFiles, r.Policies)
}

// vendorDir opens the directory of vendored packages; nil if the request names none.
func (r Request) vendorDir() (*project.VendorDir, error) {
	if r.Vendor == "" {
		return nil, nil
	}
	return project.FindVendorDir(r.dir(), r.Vendor, r.dataPath())
}

// orElse returns s, or otherwise if s is empty.
func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// Layout is the layout of packages in .terraform/modules and .terraform/providers.
type Layout int

// The layouts. Both put every module in the directory where stock tools expect it.
//
// With LayoutLinks, a call of a subdirectory has a private copy of that directory and of
// the directories that the module calls by local paths. The project has the rest of the
// package once, and relative links point to it.
//
// With LayoutCopy, each call has a private copy of the whole package, as with stock tools.
// The same is done if the file system does not support links.
//
// With LayoutLinks, a provider of a project for OpenTofu is a link to the user's cache. A project
// for Terraform, or one that may be, has a copy, because Terraform writes to installed packages: if
// the lock does not have the hash of one, it unpacks the package again, in the same place and also
// through a link. With LayoutCopy, every project has copies.
const (
	LayoutLinks Layout = iota
	LayoutCopy
)

// layoutNames are the values as text.
var layoutNames = enum[Layout]{"Layout", []string{"links", "copy"}}

// String returns the layout in one word.
func (l Layout) String() string { return layoutNames.text(l) }

// MarshalText implements encoding.TextMarshaler. An unknown value is an error.
func (l Layout) MarshalText() ([]byte, error) { return layoutNames.marshal(l) }

// UnmarshalText implements encoding.TextUnmarshaler. An unknown text is an error.
func (l *Layout) UnmarshalText(text []byte) error { return layoutNames.unmarshal(text, l) }

// Providers says what Install does with the providers that the modules require.
type Providers struct {
	// Only leaves out the modules: Install does not touch them, Outdated, VerifyRemote and
	// LockedPackages do not return them. They must be installed already, except for
	// LockedPackages.
	Only bool
	// Platforms are platforms, in addition to this machine's own, whose hashes the lock
	// must have. Their packages are not kept.
	Platforms []addrs.Platform
	// Prune drops the lock's entries of providers that neither a module nor a local state
	// requires. Without it, such entries are kept and their providers installed
	// if it is not known what the state needs, for example because a backend keeps it.
	Prune bool
	// AllowProject makes LockedPackages also return packages that the project itself brings,
	// in terraform.d/plugins or in another mirror below its directory. No origin has confirmed
	// them, so otherwise they are an error that contains a *getproviders.UnconfirmedError.
	AllowProject bool
}

// only reports whether the modules are left as they are. p may be nil.
func (p *Providers) only() bool { return p != nil && p.Only }

// others returns the distinct platforms other than this machine's own.
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
	forDir := r.ForDir
	r.Dir, r.ForDir = dir, nil
	if forDir == nil {
		return r, nil
	}
	r, err := forDir(r)
	r.ForDir = nil
	return r, err
}

// next returns the stock tool that runs after this run; zero if it is not known.
func (r Request) next() detect.Tool {
	if r.Next == DialectAuto {
		return 0
	}
	return r.Next.tool()
}

// tools returns the stock tools that the user has.
func (r Request) tools() []detect.Tool {
	var tools []detect.Tool
	for _, t := range r.Tools {
		if t != DialectAuto {
			tools = append(tools, t.tool())
		}
	}
	return tools
}
