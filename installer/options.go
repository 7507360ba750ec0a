package installer

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/evidencerules"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Registry is the client of module registries that an Installer uses: *registryclient.Client, or
// another implementation of its methods.
type Registry = registryclient.ModuleRegistry

// Fetcher fetches packages and queries their origins: *getmodules.Fetcher, or another
// implementation of its methods.
type Fetcher = getmodules.Source

// Options are the settings of an [Installer]. The zero value works: it has no credentials, and keeps only
// what it installs.
type Options struct {
	// HTTPClient is used for discovery, registries, archives, OCI registries, and git
	// repositories that are fetched without the git command. Its transport is used for all
	// of them, whatever authorities and proxies the user has set for git (GIT_SSL_CAINFO,
	// HTTPS_PROXY, ALL_PROXY). Policies are applied to each redirect before it is followed. Its Timeout
	// limits a single request for discovery or to a registry; 0 means 30 s. nil means
	// http.DefaultTransport.
	HTTPClient *http.Client
	// UserAgent is sent with each request, except to git servers. "" means "cotter".
	UserAgent string
	// Credentials provides the user's credentials. nil means that there are none.
	// *cliconfig.Config provides those of stock tools.
	Credentials Credentials
	// Services maps hosts to service identifiers and their services, which are used instead
	// of discovery, like the "host" blocks of a CLI configuration.
	Services map[addrs.Hostname]map[string]any
	// Attempts is how often a request is sent at most, for discovery, to a registry and for
	// a package. 0 means 4, 1 means that a failed request is never repeated.
	Attempts int
	// Registry is the client for module registries. nil means a *registryclient.Client with the client and the
	// credentials of these options.
	Registry Registry
	// Fetcher fetches packages. nil means a *getmodules.Fetcher without Getters. For S3, Google Cloud
	// Storage and Mercurial, set one with the Getters of packages s3, gcs and hg. If it is a
	// *getmodules.Fetcher, New takes a copy, and sets the fields HTTPClient, HTTPClientForGit, UserAgent,
	// Attempts, HTTPCredentials, OCICredentials, GitCredentials and CacheDir of the copy if they are zero.
	// If it has an HTTPClient of its own, its HTTPClientForGit stays as it is.
	Fetcher Fetcher
	// Providers is the source of providers: registries, mirrors, or both. nil means the
	// providers' own registries, with the credentials of these options. OpenTofu's own registry is trusted
	// without a signature, as tofu does.
	Providers getproviders.Source
	// PluginCacheDir is the plugin cache directory of stock tools. A locked provider is
	// taken from it if its hash is in the lock. Nothing is written there. "" means that no
	// such directory is used.
	PluginCacheDir string
	// Stores are bundles and mirrors (packages bundle and mirror) that have packages of
	// locks in addition to the origins. They are asked in this order, before the origins,
	// and only for entries of a lock. [PackageStore] says which of them may confirm
	// entries.
	Stores []PackageStore
	// Config reads the module calls of a directory. nil means the reader of
	// [DefaultConfigReader].
	Config ConfigReader
	// CacheDir is the user's cache, shared by all projects and processes. "" means that
	// only installed packages are kept.
	//
	// If the cache cannot be written, a temporary one is used instead, and an [event.Warning] is
	// sent.
	CacheDir string
	// StateDir is the user's directory for the key that runs use to recognize the files of
	// earlier runs of the same user. In the project, these files are the record of an
	// interrupted change and the former lock; in the cache, the records of the lock entries
	// that an origin has confirmed. The key is created on first use. "" means that no such
	// file is trusted, so each run asks the origins of all locked packages.
	StateDir string
	// StateKey is a secret of at least 32 characters that is used instead of the key in
	// StateDir, for machines that keep nothing between runs. "" means that StateDir is
	// used.
	StateKey string
	// LocalHosts lists hosts that servers and the configuration of packages may point to although their
	// address is on this machine, or is that of a cloud's metadata service: HOST or HOST:PORT; the
	// default port is 443. For hosts on this machine this is only needed if no call or provider
	// requirement in the project's own modules has the host and port, for example for a tunnel to a host
	// of which only packages know.
	LocalHosts []string
	// TrustInstalled makes Install and Verify believe what is installed, as stock tools do. Its
	// origin is not asked about an installed package that has the hashes of its lock entry, and
	// neither StateDir nor CacheDir is needed to work offline. With Project.NoLock, a module
	// needs no hash either, if modules.json has it for the same source at a version that fits.
	//
	// With it, anyone who can write to both the data directory and the lock decides what runs, such as
	// the author of a commit or of a restored CI cache. This adds no risk if the program fetches
	// nothing from others, or has checked these files itself. Packages that are not installed, or that
	// are copied to a vendor directory, a mirror or a bundle, must be confirmed as usual. Installed
	// packages have the evidence evidence.Installed.
	TrustInstalled bool
	// Parallel is the number of packages that are worked on at once; 0 means 16. Up to four
	// times as many small requests are sent at once, such as those for versions and tags.
	Parallel int
	// OnEvent is called with each event of the runs whose project has no OnEvent. Package event says
	// what a callback can rely on.
	OnEvent func(Event)
	// Logger gets a record of level Debug for each operation that has ended, and one of level Warn for
	// each [event.Warning]. nil means that nothing is logged. Records have no credentials.
	Logger *slog.Logger
	// Trace is called when an operation begins: each request to a server, each fetch of a package,
	// each run of git or hg, and each login to a git server without that program. The operation gets
	// the context that it returns, for example with a span of OpenTelemetry. done, which may be nil, is
	// called once when the operation has ended: a request when the answer begins, with an error for a
	// status of 400 or above. Several goroutines may call Trace at once. A Registry, Fetcher or
	// Providers of the caller's own takes part as far as it passes contexts on to clients of this module.
	Trace func(ctx context.Context, op event.Operation) (_ context.Context, done func(error))
}

// Credentials finds the user's credentials. Implementations must be safe for concurrent
// use. *cliconfig.Config, which cliconfig.Environment.Load returns, is an implementation.
type Credentials interface {
	// ForHost finds credentials for the services of a registry's host.
	disco.CredentialsSource
	// HTTPCredentials finds credentials for archives and pages; see
	// getmodules.HTTPCredentials.
	HTTPCredentials(ctx context.Context, at *url.URL) (*url.Userinfo, error)
	// OCICredentials finds credentials for a repository of an OCI registry; see
	// getmodules.OCICredentials.
	OCICredentials(ctx context.Context, host, repository string) (getmodules.OCICredential, error)
	// GitCredentials finds credentials for git repositories with an https address; see
	// getmodules.Fetcher.GitCredentials. If it returns nil, git finds its own.
	GitCredentials(ctx context.Context, at *url.URL) (*url.Userinfo, error)
}

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
