package installer

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/project/policyfile"
	"github.com/cotterpin/cotter/internal/rules"
	"github.com/cotterpin/cotter/internal/text/textform"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
)

// Project is a root module: where its files are, and whose rules hold for it, in all runs. The zero value is
// the root module in the current directory. DataDir, ModulesDir and LockFile are relative to Dir or absolute.
type Project struct {
	// Where it is. Dir is the root module's directory; "" means the current directory.
	Dir string
	// DataDir is the data directory of stock tools; "" means ".terraform". Providers are installed below it.
	DataDir string
	// ModulesDir is the directory of installed modules; "" means "modules" in DataDir, the only place where
	// stock tools look for it. It may be on another file system, as may LockFile.
	ModulesDir string

	// How it is read. Inputs are the values that sources and versions may depend on.
	Inputs  config.Inputs
	Dialect Dialect
	Tools   []Dialect // the stock tools that the user has, which help to detect the dialect
	Next    Dialect   // the stock tool that runs afterwards, if known; a warning says if another was detected
	// Edited are pins whose calls are read with LatestValue instead of Value, as if package edit had written it.
	Edited []Pin

	// Its lock. LockFile is a file in a directory that exists; "" means ".terraform.lock.hcl". Below Dir, one with
	// another name has only the modules. A run fails if another one has changed the lock meanwhile.
	LockFile string
	// LockContent, if not nil, replaces the file: the new lock is [Result.LockContent]. Empty content is an empty lock.
	LockContent []byte
	// LockHeader is the comment at the start of a new lock, each line with a "#"; "" means that of Cotter.
	LockHeader string
	// NoLock makes runs neither read nor write a lock. As in stock tools, an installed version stays if it fits.
	NoLock bool
	// Platforms are those, besides this machine's own, whose hashes of providers the lock must have. If this machine's
	// own is among them, its hashes are added also to an entry whose hashes belong to no package that is looked at.
	Platforms []addrs.Platform

	// What is installed, from where, and what is allowed.
	Layout Layout
	// Submodules includes submodules of git, also in the hashes. So the setting must be the same in all runs.
	Submodules bool
	// PolicyFiles and Policies apply in addition to the project's policy, which is in the nearest cotter.hcl with one,
	// from Dir up to the root of the git repository. All must allow what is done. If one of them has Only set, the
	// project's policy is not read.
	PolicyFiles    []string
	Policies       []*policy.Policy
	Stores         []PackageStore      // are asked before those of the Installer
	ProviderSource getproviders.Source // of this project; nil means that of the Installer
	// Unmanaged are providers that no run installs, locks or verifies, because stock tools use processes that the
	// user has started (TF_REATTACH_PROVIDERS). Their entries in the lock stay.
	Unmanaged []addrs.Provider

	// What the program gets. OnEvent gets the project's events; nil means [Options.OnEvent].
	OnEvent         func(Event)
	KeepCredentials bool // in source addresses in results
}

// Event is one of the structs of package event.
type Event = event.Event

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
func (p Project) lockFile() string { return cmp.Or(p.LockFile, lockfile.Name) }

func (p Project) dataPath() string { return p.below(p.dataDir()) }

func (p Project) modulesDir() string {
	return cmp.Or(p.ModulesDir, filepath.Join(p.dataDir(), "modules"))
}
func (p Project) modulesPath() string { return p.below(p.modulesDir()) }

func (p Project) givenModulesPath() string {
	if p.ModulesDir == "" {
		return ""
	}
	return p.modulesPath()
}

func (p Project) readRules() (rules.Rules, error) {
	return policyfile.Read(p.dir(), p.PolicyFiles, p.Policies)
}

func (p Project) otherPlatforms() []addrs.Platform {
	var others []addrs.Platform
	for _, platform := range p.Platforms {
		if platform != addrs.CurrentPlatform() && !slices.Contains(others, platform) {
			others = append(others, platform)
		}
	}
	return others
}

func (p Project) tools() []Dialect {
	return slices.DeleteFunc(slices.Clone(p.Tools), func(d Dialect) bool { return d == DialectAuto })
}

// Layout is the layout of packages in .terraform. With each, modules are where stock tools expect them. The page
// docs/stock-tools.md has the details.
type Layout int

// The layouts.
const (
	LayoutLinks Layout = iota // links to one copy a project or, for providers of OpenTofu, a user
	LayoutCopy                // full copies, also where the file system has no links
	// LayoutPortable is LayoutLinks with copies of providers, so that DataDir also works on a machine without the
	// user's cache. Only a user's mirror of unpacked providers is linked, as stock tools do.
	LayoutPortable
)

var layoutNames = textform.Enum[Layout]{Type: "Layout", Names: []string{"links", "copy", "portable"}}

// String returns the layout in one word.
func (l Layout) String() string { return layoutNames.Text(l) }

// MarshalText fails for an unknown value.
func (l Layout) MarshalText() ([]byte, error) { return layoutNames.Marshal(l) }

// UnmarshalText reads what String returns.
func (l *Layout) UnmarshalText(text []byte) error { return layoutNames.Unmarshal(text, l) }
