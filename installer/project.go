package installer

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/detect"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/rules"
	"github.com/cotterpin/cotter/policy"
)

// lockFileName is the lock of stock tools.
const lockFileName = ".terraform.lock.hcl"

// Project is a root module: where its files are, and whose rules hold for it. It is the same in all
// runs; what one run may do is in the options of each method. The zero value is the root module in the
// current directory.
type Project struct {
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
	// LockHeader is the comment at the start of a lock that a run creates, for programs that name
	// themselves there; each line begins with "#". "" means that of Cotter.
	LockHeader string
	// NoLock makes the run neither read nor write a lock. As with stock tools, a module that is
	// installed stays at its version while that fits, and for others the newest version is
	// selected.
	NoLock bool
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
	// Submodules also fetches the submodules of git repositories. They are then covered by
	// the hashes in the lock, so the setting must be the same in all runs.
	Submodules bool
	// Platforms are platforms, in addition to this machine's own, whose hashes of providers the lock
	// must have. Their packages are not kept.
	Platforms []addrs.Platform
	// PolicyFiles are the paths of policies, in the format of package policy. They and Policies
	// are applied in addition to the project's policy: the one in cotter.hcl in Dir, or in the
	// nearest one above it in the same git repository that contains a policy. All of them must
	// allow what is done. If the field Only of one is set, the project's policy is not read.
	PolicyFiles []string
	Policies    []*policy.Policy
	// Stores are asked before the stores of the Installer, for this project only. Projects
	// with the same store share its answers.
	Stores []PackageStore
	// ProviderSource is the source of providers for this project. Projects with mirrors below
	// their own directories need different ones. nil means that of the Installer, whose answers
	// projects share.
	ProviderSource getproviders.Source
	// KeepStateAddresses takes the addresses of providers in a state as they are. Without it,
	// as in OpenTofu, the providers of Terraform's registry in a state are those of
	// OpenTofu's registry, unless the configuration names them with Terraform's. In the
	// terraform dialect, they are always taken as they are. The cotter command sets this if
	// OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION is 0.
	KeepStateAddresses bool
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
	// KeepCredentials keeps the credentials in source addresses in the results. Without it,
	// they are removed.
	KeepCredentials bool
	// OnEvent is called with each event of the project's runs. nil means Options.OnEvent. Package event
	// says what a callback can rely on.
	OnEvent func(Event)
}

// Event is something that happened in a run: one of the structs of package event.
type Event = event.Event

// location returns the paths of the project's files.
func (p Project) location() project.Location {
	return project.Location{Dir: p.dir(), DataDir: p.dataPath(), ModulesDir: p.givenModulesPath(), LockFile: p.lockFile(), NoLockFile: !p.hasLockFile()}
}

func (p Project) hasLockFile() bool { return !p.NoLock && p.LockContent == nil }

func (p Project) lockPath() string { return p.below(p.lockFile()) }

// below returns the path for this process of a path that is relative to Dir or absolute.
func (p Project) below(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.dir(), name)
}

func (p Project) dir() string      { return cmp.Or(p.Dir, ".") }
func (p Project) dataDir() string  { return cmp.Or(p.DataDir, ".terraform") }
func (p Project) lockFile() string { return cmp.Or(p.LockFile, lockFileName) }

func (p Project) dataPath() string { return p.below(p.dataDir()) }

// modulesDir returns the directory of installed modules, relative to Dir or absolute, and
// modulesPath returns its path for this process.
func (p Project) modulesDir() string {
	return cmp.Or(p.ModulesDir, filepath.Join(p.dataDir(), "modules"))
}
func (p Project) modulesPath() string { return p.below(p.modulesDir()) }

// givenModulesPath returns the path of the modules directory if the project names one, and ""
// otherwise.
func (p Project) givenModulesPath() string {
	if p.ModulesDir == "" {
		return ""
	}
	return p.modulesPath()
}

func (p Project) readRules() (rules.Rules, error) {
	return rules.Read(p.dir(), p.PolicyFiles, p.Policies)
}

// vendorDir opens the directory of vendored packages; nil if the project names none.
func (p Project) vendorDir() (*project.VendorDir, error) {
	if p.Vendor == "" {
		return nil, nil
	}
	return project.FindVendorDir(p.dir(), p.Vendor, p.dataPath())
}

// otherPlatforms returns the distinct platforms other than this machine's own.
func (p Project) otherPlatforms() []addrs.Platform {
	var others []addrs.Platform
	for _, platform := range p.Platforms {
		if platform != addrs.CurrentPlatform() && !slices.Contains(others, platform) {
			others = append(others, platform)
		}
	}
	return others
}

// next returns the stock tool that runs after this run; zero if it is not known.
func (p Project) next() detect.Tool {
	if p.Next == DialectAuto {
		return 0
	}
	return p.Next.tool()
}

func (p Project) tools() []detect.Tool {
	var tools []detect.Tool
	for _, t := range p.Tools {
		if t != DialectAuto {
			tools = append(tools, t.tool())
		}
	}
	return tools
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

var layoutNames = enum[Layout]{"Layout", []string{"links", "copy"}}

// String returns the layout in one word.
func (l Layout) String() string { return layoutNames.text(l) }

// MarshalText implements encoding.TextMarshaler. An unknown value is an error.
func (l Layout) MarshalText() ([]byte, error) { return layoutNames.marshal(l) }

// UnmarshalText implements encoding.TextUnmarshaler. An unknown text is an error.
func (l *Layout) UnmarshalText(text []byte) error { return layoutNames.unmarshal(text, l) }
