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
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/text/textform"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Registry is a client of module registries: *registryclient.Client, or another implementation.
type Registry = registryclient.ModuleRegistry

// Fetcher fetches packages and queries their origins: *getmodules.Fetcher, or another implementation.
type Fetcher = getmodules.Source

// Options are the settings of an [Installer]. The zero value has no credentials, and keeps only what it installs.
type Options struct {
	// Requests. HTTPClient is for all but git's command and ssh, whatever authorities and proxies are set for git; nil
	// means http.DefaultTransport. Its Timeout limits a request for discovery or to a registry; 0 means 30 s.
	HTTPClient  *http.Client
	UserAgent   string      // for all but git servers; "" means "cotter"
	Credentials Credentials // nil means that there are none
	// Services has services of hosts by identifier, which replace discovery, as "host" blocks of a CLI configuration.
	Services map[addrs.Hostname]map[string]any
	Attempts int // how often a request for discovery, to a registry or for a package is sent at most; 0 means 4
	// LocalHosts are hosts at addresses of this machine, or of a cloud's metadata service, to which servers and
	// packages may point: HOST or HOST:PORT, with 443 as the default. A host of this machine that the project's
	// own modules name in a call or a provider requirement need not be in it.
	LocalHosts []string

	// Where modules come from. Config reads configurations; nil means the reader of [DefaultConfigReader].
	Config   ConfigReader
	Registry Registry // nil means a *registryclient.Client
	// Fetcher fetches packages; nil means a *getmodules.Fetcher. S3, Google Cloud Storage and Mercurial need one with
	// the Getters of packages s3, gcs and hg, or of a kind of your own, which may have versions: New copies it, and sets
	// its zero fields that are options here.
	Fetcher Fetcher
	// Stores are bundles and mirrors, which are asked in this order for entries of locks, before the origins.
	Stores []PackageStore

	// Where providers come from; nil means their registries. OpenTofu's needs no signatures, as in tofu.
	Providers getproviders.Source
	// PluginCacheDir is a plugin cache of stock tools. A provider in it is taken if the lock has its hash.
	PluginCacheDir string

	// What is kept. CacheDir is the user's cache, for all projects and processes; "" means that only installed packages
	// are kept. If it cannot be written, a temporary one is used and an [event.Warning] is sent.
	CacheDir string
	// StateDir is the user's directory for the key, created on first use, that seals what runs leave for later
	// ones: in the project the former lock and the record of an interrupted change, in the cache the confirmed
	// lock entries. With "", nothing of this is trusted, so each run asks the origins of all locked packages.
	StateDir string
	// StateKey, of at least 32 characters, replaces the key in StateDir on machines that keep nothing between runs.
	StateKey string
	// TrustInstalled makes Install and Verify believe what is installed, as stock tools do: no origin is asked about an
	// installed package that has the hashes of its lock entry or, with [Project.NoLock], that modules.json has for the
	// same source at a version that fits. Its evidence is evidence.Installed. Then anyone who can write to both the data
	// directory and the lock decides what runs, such as the author of a commit or of a restored CI cache. What is not
	// installed, or is copied to a mirror or a bundle, must be confirmed as usual.
	TrustInstalled bool

	// Limits. Parallel is how many packages are worked on at once; 0 means 16. Small requests may be four times as many.
	Parallel int
	// MaxDisk bounds what one run writes to disk, in bytes: downloads, unpacked packages, and copies of them in all its
	// projects. The default is 64 GiB, and the maximum 1 TiB. The error wraps a *getmodules.LimitError.
	MaxDisk int64

	// What the program sees. OnEvent gets the events of projects without an OnEvent, and those about several projects.
	// Methods with several projects call no two callbacks at once. See package event.
	OnEvent func(Event)
	// Logger gets, without credentials, a Debug record for each ended operation and a Warn record for each warning.
	Logger *slog.Logger
	// Trace is called when an operation begins, also by several goroutines at once. The operation gets the returned
	// context. done, which may be nil, is called when it has ended: for a request when the answer begins, with an error
	// for a status of 400 or above.
	Trace func(ctx context.Context, op event.Operation) (_ context.Context, done func(error))
}

// Credentials finds the user's credentials, like *cliconfig.Config. It must be safe for concurrent use.
type Credentials interface {
	// ForHost finds credentials for the services of a registry's host.
	disco.CredentialsSource
	// HTTPCredentials finds credentials for archives and pages; see getmodules.HTTPCredentials.
	HTTPCredentials(ctx context.Context, at *url.URL) (*url.Userinfo, error)
	// OCICredentials finds credentials for an OCI repository; see getmodules.OCICredentials.
	OCICredentials(ctx context.Context, host, repository string) (getmodules.OCICredential, error)
	// GitCredentials finds credentials for an https address of git; if it returns nil, git finds its own.
	GitCredentials(ctx context.Context, at *url.URL) (*url.Userinfo, error)
}

// Scope says which packages a run is about.
type Scope int

// The scopes.
const (
	ScopeModules   Scope = iota // leaves providers and their blocks in the lock as they are
	ScopeAll                    // modules, and the providers that they require or the lock has
	ScopeProviders              // these providers only; the modules must be installed
)

var scopeNames = textform.Enum[Scope]{Type: "Scope", Names: []string{"modules", "all", "providers"}}

// String returns the scope in one word.
func (s Scope) String() string { return scopeNames.Text(s) }

// MarshalText fails for an unknown value.
func (s Scope) MarshalText() ([]byte, error) { return scopeNames.Marshal(s) }

// UnmarshalText reads what String returns.
func (s *Scope) UnmarshalText(text []byte) error { return scopeNames.Unmarshal(text, s) }

func (s Scope) modules() bool   { return s != ScopeProviders }
func (s Scope) providers() bool { return s != ScopeModules }

// InstallOptions say what an installation may do.
type InstallOptions struct {
	Scope Scope
	// Locked installs exactly what the lock says, or fails with a *[LockedError]. Of calls with [config.Call.Unlocked], the
	// lock says nothing.
	Locked bool
	// DryRun changes nothing in the project. The cache, the result and the error are as in a real installation.
	// LockOnly writes only the lock, unless DryRun is set. It excludes Locked.
	DryRun, LockOnly bool
	// Offline forbids requests to servers. What would need one is an error that wraps [ErrOffline].
	Offline bool
	Update  Update
	// Unify makes all calls of a source share one version. If none fits, the error is a *[ConflictError].
	Unify bool
	// PruneProviders drops the lock's entries of providers that no module requires. Without it, they stay,
	// because the state may need them.
	PruneProviders bool
	// AcceptUnreachable names calls whose locked commits, also for other calls of the source, are accepted
	// although no branch or tag of their repository contains them; see [UnreachableError].
	AcceptUnreachable []addrs.Module
	// AllowConfigErrors makes Install go on if configuration cannot be read, as terraform init and tofu get do. It
	// installs the modules that could be read, but no providers, and returns a complete result beside the *[ConfigError]
	// of each module that could not. What the project has for calls below these stays.
	AllowConfigErrors bool
}

// VerifyOptions are empty today: Verify compares everything that is installed.
type VerifyOptions struct{}

// LoadOptions say what Load returns.
type LoadOptions struct {
	Providers bool // includes the providers of the configuration and the lock
	// BestEffort makes modules that cannot be found or read no error. They are in [Result.Unresolved].
	BestEffort bool
	// FromLock takes modules that are not installed, and then also providers, from the lock, as
	// [Installer.Outdated] does: without Dir, positions of calls in their packages, and local modules in them.
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
	Scope Scope
}

// PinOptions say which pins [Installer.Pins] finds, and to which version they are compared.
type PinOptions struct {
	// Keys are the calls whose pins are wanted; none means all. If All is also set, all are wanted, and those
	// of other calls are compared to the newest version of the same major version.
	Keys []addrs.Module
	All  bool
	// To is the version to compare to, unless it is zero. If it is lower than the locked one and AllowDowngrade
	// is not set, that is a [versions.ErrDowngrade].
	To             versions.Version
	AllowDowngrade bool
}

// LockedOptions say which packages of locks are copied to a bundle or a mirror, and where they may come from.
type LockedOptions struct {
	// With ScopeProviders, only the locks are read, and modules need not be installed.
	Scope     Scope
	Platforms []addrs.Platform // of the providers' packages; none means this machine's own
	// Offline and AcceptUnreachable are as in [InstallOptions].
	Offline           bool
	AcceptUnreachable []addrs.Module
	// AllowProject also returns providers that the project brings, such as in terraform.d/plugins. No origin
	// has confirmed them, so otherwise they are a *getproviders.UnconfirmedError.
	AllowProject bool
}

// publishRule says which evidence is enough for providers that are copied to a bundle or a mirror.
func (o LockedOptions) publishRule() evidencerules.Rule {
	rule := evidencerules.For(evidencerules.Publish)
	if o.AllowProject {
		rule.Provider = append(slices.Clone(rule.Provider), evidence.Project)
	}
	return rule
}

func (o LockedOptions) platforms() []addrs.Platform {
	if len(o.Platforms) == 0 {
		return []addrs.Platform{addrs.CurrentPlatform()}
	}
	return o.Platforms
}
