package cotter

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Options configure the Installer that [New] returns. The zero value works.
type Options struct {
	// HTTPClient is used for discovery, registries, archives, OCI registries, and git
	// repositories that are fetched without the git command. Its transport is used for all
	// of them. Its Timeout limits a single request for discovery or to a registry; 0 means
	// 30 s. nil means http.DefaultTransport.
	HTTPClient *http.Client
	// UserAgent is sent with each request, except to git servers. "" means "cotter".
	UserAgent string
	// Credentials provides the user's credentials. nil means that there are none.
	// *cliconfig.Config provides those of stock tools.
	Credentials Credentials
	// Services maps hosts to service identifiers and their services, which are used instead
	// of discovery, like the "host" blocks of a CLI configuration.
	Services map[addrs.Hostname]map[string]any
	// Retries is how often a failed request for discovery or to a registry is repeated. 0
	// means 3, a negative number means never.
	Retries int
	// Fetcher has further settings for fetches, such as Getters, XZ, Git and Limits. New
	// sets its fields HTTPClient, UserAgent, HTTPCredentials, OCICredentials and CacheDir
	// if they are zero, so the Fetcher must not be in use yet. nil means the defaults.
	Fetcher *getmodules.Fetcher
	// CacheDir, StateDir, StateKey, Parallel and OnEvent are as in Installer.
	CacheDir, StateDir, StateKey string
	Parallel                     int
	OnEvent                      func(Event)
}

// Credentials finds the user's credentials. Implementations must be safe for concurrent
// use. *cliconfig.Config is an implementation.
type Credentials interface {
	// ForHost finds credentials for the services of a registry's host.
	disco.CredentialsSource
	// HTTPCredentials finds credentials for archives and pages; see
	// getmodules.HTTPCredentials.
	HTTPCredentials(ctx context.Context, at *url.URL) (*url.Userinfo, error)
	// OCICredentials finds credentials for a repository of an OCI registry; see
	// getmodules.OCICredentials.
	OCICredentials(ctx context.Context, host, repository string) (getmodules.OCICredential, error)
}

// New returns an Installer whose discovery, registry client and fetcher share an
// HTTP client and credentials. Its fields may be replaced or wrapped before it is
// used:
//
//	in := cotter.New(cotter.Options{HTTPClient: client, CacheDir: dir})
//	in.Fetcher = counting{in.Fetcher}
func New(opts Options) *Installer {
	services := &disco.Client{
		HTTPClient: opts.HTTPClient, UserAgent: opts.UserAgent, Retries: opts.Retries,
		ForcedServices: opts.Services,
	}
	if opts.Credentials != nil {
		services.Credentials = opts.Credentials
	}
	registry := &registryclient.Client{
		Services:   services,
		HTTPClient: opts.HTTPClient, UserAgent: opts.UserAgent, Retries: opts.Retries,
	}
	return &Installer{
		Registry: registry,
		Providers: &getproviders.Direct{
			Registry: registry, TrustedHost: addrs.DefaultRegistryHost, AllowWeakSignatures: true, // policies decide
			HTTPClient: opts.HTTPClient, UserAgent: opts.UserAgent, Retries: opts.Retries,
		},
		Fetcher:  opts.fetcher(),
		CacheDir: opts.CacheDir,
		StateDir: opts.StateDir,
		StateKey: opts.StateKey,
		Parallel: opts.Parallel,
		OnEvent:  opts.OnEvent,
	}
}

// fetcher returns the Fetcher of the options, with the fields set that it shares with the
// other clients.
func (o Options) fetcher() *getmodules.Fetcher {
	f := o.Fetcher
	if f == nil {
		f = &getmodules.Fetcher{}
	}
	if f.HTTPClient == nil {
		f.HTTPClient = o.HTTPClient
	}
	f.UserAgent, f.CacheDir = orElse(f.UserAgent, o.UserAgent), orElse(f.CacheDir, o.CacheDir)
	if o.Credentials == nil {
		return f
	}
	if f.HTTPCredentials == nil {
		f.HTTPCredentials = o.Credentials.HTTPCredentials
	}
	if f.OCICredentials == nil {
		f.OCICredentials = o.Credentials.OCICredentials
	}
	return f
}

// Installer installs, locks and verifies the modules of configurations. The zero value
// works: it sends no credentials to registries, and keeps only what it installs. Fields
// must not change once the Installer is in use. One Installer may serve any number of runs
// at once.
type Installer struct {
	// Registry is the client for module registries. nil means a *registryclient.Client
	// without credentials.
	Registry Registry
	// Fetcher fetches packages. nil means a *getmodules.Fetcher whose git stores are under
	// CacheDir and which has no Getters. For S3, Google Cloud Storage and Mercurial, set a
	// Fetcher with the Getters of packages s3, gcs and hg.
	Fetcher Fetcher
	// Providers is the source of providers: registries, mirrors, or both. nil means the
	// providers' own registries, without credentials. OpenTofu's own registry is trusted
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
	// If the cache cannot be written, a temporary one is used instead, and a [Warning] is
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
	// Parallel is the number of packages that are worked on at once; 0 means 16. Up to four
	// times as many small requests are sent at once, such as those for versions and tags.
	Parallel int
	// OnEvent is called with each event. See [Event] for its guarantees.
	OnEvent func(Event)

	// shared is the session of all runs of a copy that Share or forEachProject made; nil
	// otherwise.
	shared *session
}

// Registry is the client of module registries that an Installer uses. Implementations must
// be safe for concurrent use. *registryclient.Client is an implementation.
type Registry interface {
	// ModuleVersions lists the versions of a package.
	ModuleVersions(ctx context.Context, pkg addrs.ModuleRegistryPackage) ([]versions.Candidate, error)
	// PackageLocation returns the location of a version of a package.
	PackageLocation(ctx context.Context, pkg addrs.ModuleRegistryPackage, v versions.Version) (registryclient.Location, error)
	// Download writes the archive of a package that the registry hosts itself to w. The
	// location of such a package is Direct.
	Download(ctx context.Context, pkg addrs.ModuleRegistryPackage, at registryclient.Location, w io.Writer) error
}

// Fetcher fetches packages and queries their origins. Implementations must be safe for
// concurrent use. *getmodules.Fetcher is an implementation. A method that cannot do its
// work must return an error, and whatever depends on it fails: something that could not be
// checked never counts as checked. The contexts have the rules of the project's policies for
// URLs, which *getmodules.Fetcher applies to every request and redirect. So an implementation
// that uses another one must pass the context on, and one that sends requests itself must
// apply [Request].Policies to redirects.
type Fetcher interface {
	// Fetch fetches a package into req.Dir, which does not exist yet.
	Fetch(ctx context.Context, req getmodules.Request) (*getmodules.Package, error)
	// Reference returns the revision that the address of a package means now.
	Reference(ctx context.Context, req getmodules.Request) (getmodules.Reference, error)
	// Tags lists the tags of the git repository of req.Package, with their commits.
	Tags(ctx context.Context, req getmodules.Request) ([]getmodules.Tag, error)
	// Reachable determines which of some commits are in the history of a branch or a tag of
	// the git repository of req.Package; see [getmodules.Fetcher.Reachable].
	Reachable(ctx context.Context, req getmodules.Request, commits ...getmodules.LockedCommit) (map[string]getmodules.Reach, error)
	// OCIRepository opens the repository of req.Package in an OCI registry. It sends no
	// requests yet.
	OCIRepository(req getmodules.Request) (getmodules.OCIRepository, error)
	// ExtractArchive extracts an archive that a registry hosts to dir, which does not exist
	// yet. kind is as for [getmodules.Fetcher.ExtractArchive].
	ExtractArchive(ctx context.Context, file *os.File, kind, dir string) (*getmodules.Package, error)
	// Interactive reports whether a method may wait for the user, for example for a
	// password. If it may, other processes do not wait for the fetches of this one.
	Interactive() bool
}

// defaultParallel is the default of Installer.Parallel. Most of the time a worker waits for
// the network.
const defaultParallel = 16

// requestsPerSlot is the number of small requests at once, for each package that is worked on.
const requestsPerSlot = 4

var (
	_ Registry = (*registryclient.Client)(nil)
	_ Fetcher  = (*getmodules.Fetcher)(nil)
)

// parallel returns the number of packages that are worked on at once.
func (in *Installer) parallel() int {
	if in.Parallel > 0 {
		return in.Parallel
	}
	return defaultParallel
}

func (in *Installer) registry() Registry {
	if in.Registry != nil {
		return in.Registry
	}
	return &registryclient.Client{Services: &disco.Client{}}
}

func (in *Installer) providers() getproviders.Source {
	if in.Providers != nil {
		return in.Providers
	}
	return &getproviders.Direct{
		Registry: &registryclient.Client{Services: &disco.Client{}}, TrustedHost: addrs.DefaultRegistryHost, AllowWeakSignatures: true,
	}
}

func (in *Installer) fetcher(cacheDir string) Fetcher {
	if in.Fetcher != nil {
		return in.Fetcher
	}
	return &getmodules.Fetcher{CacheDir: cacheDir}
}

func (in *Installer) config(req Request) (ConfigReader, error) {
	if in.Config != nil {
		return in.Config, nil
	}
	return newConfigReader(req)
}
