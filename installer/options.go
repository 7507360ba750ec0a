package installer

import (
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/evidencerules"
	"github.com/cotterpin/cotter/versions"
)

// Scope says which packages a run is about.
type Scope int

// The scopes.
const (
	// ScopeModules leaves providers and their blocks in the lock as they are.
	ScopeModules Scope = iota
	// ScopeAll is about modules, and about the providers that the modules and a local state require.
	ScopeAll
	// ScopeProviders is about these providers only. The modules must be installed.
	ScopeProviders
)

var scopeNames = enum[Scope]{"Scope", []string{"modules", "all", "providers"}}

// String returns the scope in one word.
func (s Scope) String() string { return scopeNames.text(s) }

// MarshalText implements encoding.TextMarshaler. An unknown value is an error.
func (s Scope) MarshalText() ([]byte, error) { return scopeNames.marshal(s) }

// UnmarshalText implements encoding.TextUnmarshaler. An unknown text is an error.
func (s *Scope) UnmarshalText(text []byte) error { return scopeNames.unmarshal(text, s) }

func (s Scope) modules() bool   { return s != ScopeProviders }
func (s Scope) providers() bool { return s != ScopeModules }

// InstallOptions say what an installation may do.
type InstallOptions struct {
	// Scope says whether the run installs modules, providers or both.
	Scope Scope
	// Locked installs exactly what the lock says or fails with *LockedError. The lock is
	// not written.
	Locked bool
	// DryRun makes Install compute its changes without making them: nothing in the project
	// changes, and no directory is created there. Packages are still fetched into the
	// cache, and the result and the error are those of a real installation.
	//
	// LockOnly makes Install write only the lock; a later run can install the modules. It
	// cannot be combined with Locked. If DryRun is also set, nothing is written.
	DryRun, LockOnly bool
	// Offline forbids requests to servers. A package that is neither installed nor in the
	// cache is an error that wraps [ErrOffline].
	Offline bool
	// Update selects the calls and providers that are updated from their locked versions.
	Update Update
	// Unify makes all calls of one source share one version. If no version meets all of
	// their constraints, the error is a *[ConflictError].
	Unify bool
	// PruneProviders drops the lock's entries of providers that neither a module nor a local state
	// requires. Without it, such entries are kept and their providers installed
	// if it is not known what the state needs, for example because a backend keeps it.
	PruneProviders bool
	// AcceptUnreachable names the calls whose locked commits are
	// accepted although no branch or tag of their repository contains them; see
	// [UnreachableError]. They are then accepted for all calls of the same source.
	AcceptUnreachable []addrs.Module
	// AllowConfigErrors makes Install go on if not all of the configuration can be read, as
	// terraform init and tofu get do. It installs the calls that could be read, and returns a
	// complete result beside the *[ConfigError] of each module that could not. Below these
	// modules, entries of the lock, records and packages stay as they are if they belong to
	// calls that were not seen. Providers are not installed, because what the unread files
	// require is not known. Any other error still makes Install fail, and so does a
	// *ConfigError in a project with Vendor.
	AllowConfigErrors bool
}

// VerifyOptions say what Verify does. They are empty today: Verify compares everything that is installed.
type VerifyOptions struct{}

// LoadOptions say what Load returns.
type LoadOptions struct {
	// Providers makes Load also return the providers of the configuration or the lock.
	Providers bool
	// BestEffort makes Load return the modules that it finds, and list the others in
	// Result.Unresolved instead of returning an error.
	BestEffort bool
	// FromLock makes Load return modules that are not installed from their entries in the lock, with
	// an empty Dir, and all providers in the lock if there are such modules. The calls in their packages
	// have no position. Local modules in them are left out. [Installer.Outdated] always does so.
	FromLock bool
}

func (o LoadOptions) scope() Scope {
	if o.Providers {
		return ScopeAll
	}
	return ScopeModules
}

// OriginOptions say which origins Outdated and VerifyRemote ask.
type OriginOptions struct {
	// Scope says whether the run asks the origins of modules, providers or both.
	Scope Scope
}

// PinOptions say which pins [Installer.Pins] finds, and to which version they are compared.
type PinOptions struct {
	// Keys are the calls whose pins are wanted; none means all.
	Keys []addrs.Module
	// All means all pins, too, but the newest versions of those that Keys does not name have the same major
	// version as the pin.
	All bool
	// To is taken as the newest version, unless it is zero. A version that is lower than the locked one is
	// an error that wraps [versions.ErrDowngrade], unless AllowDowngrade is set.
	To             versions.Version
	AllowDowngrade bool
}

// DiffOptions say where [Installer.DiffInterfaces] may look for packages.
type DiffOptions struct {
	// Offline forbids requests to servers.
	Offline bool
}

// LockedOptions say which packages LockedPackages returns, and where they may come from.
type LockedOptions struct {
	// Scope says whether the packages are those of modules, providers or both. With ScopeProviders,
	// only the locks are read, and modules need not be installed.
	Scope Scope
	// Platforms are the platforms of the providers' packages; none means this machine's own.
	Platforms []addrs.Platform
	// Offline forbids requests to servers. A package that is neither installed nor in the
	// cache is an error that wraps [ErrOffline].
	Offline bool
	// AcceptUnreachable is as in [InstallOptions].
	AcceptUnreachable []addrs.Module
	// AllowProject also returns providers that the project itself brings,
	// in terraform.d/plugins or in another mirror below its directory. No origin has confirmed
	// them, so otherwise they are an error that contains a *getproviders.UnconfirmedError.
	AllowProject bool
}

// publishRule returns which evidence is enough for providers that are copied to a bundle or
// a mirror.
func (o LockedOptions) publishRule() evidencerules.Rule {
	rule := evidencerules.For(evidencerules.Publish)
	if o.AllowProject {
		rule.Provider = append(slices.Clone(rule.Provider), evidence.Project)
	}
	return rule
}

// platforms returns the named platforms, or this machine's own if none is named.
func (o LockedOptions) platforms() []addrs.Platform {
	if len(o.Platforms) == 0 {
		return []addrs.Platform{addrs.CurrentPlatform()}
	}
	return o.Platforms
}
