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

// Options are what [New] wires into an Installer. The zero value works.
type Options struct {
	// HTTPClient is used for discovery, registries, archives, OCI registries and those
	// git repositories that are fetched without git. It gives the transport, and by
	// its Timeout the bound of one request for discovery or to a registry; 0 means
	// 30 s. nil means http.DefaultTransport.
	HTTPClient *http.Client
	// UserAgent is sent with each request, except to git servers. "" means "cotter".
	UserAgent string
	// Credentials has the user's credentials. nil means that there are none.
	// *cliconfig.Config has those of stock tools.
	Credentials Credentials
	// Services are services by host and service identifier that take the place of
	// discovery, as the "host" blocks of a CLI configuration do.
	Services map[addrs.Hostname]map[string]any
	// Retries is how often a failed request for discovery or to a registry is
	// repeated. 0 means 3, less means never.
	Retries int
	// Fetcher has further settings for fetches, such as Getters, XZ, Git and Limits.
	// New sets those of its fields HTTPClient, UserAgent, HTTPCredentials,
	// OCICredentials and CacheDir that are zero, so it must not be in use. nil means
	// the defaults.
	Fetcher *getmodules.Fetcher
	// CacheDir, StateDir, StateKey, Parallel and OnEvent are those of Installer.
	CacheDir, StateDir, StateKey string
	Parallel                     int
	OnEvent                      func(Event)
}

// Credentials finds the user's credentials. Implementations must be safe for
// concurrent use; *cliconfig.Config is one.
type Credentials interface {
	// ForHost finds those for the services of a registry's host.
	disco.CredentialsSource
	// HTTPCredentials finds those for archives and pages; see
	// getmodules.HTTPCredentials.
	HTTPCredentials(ctx context.Context, at *url.URL) (*url.Userinfo, error)
	// OCICredentials finds those for a repository of an OCI registry; see
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

// fetcher returns the Fetcher of the options, with what it shares with the rest.
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

// Installer installs, locks and verifies the modules of configurations. The
// zero value works: it asks registries anonymously and keeps nothing between
// runs but what is installed. Fields must not change once it is in use; one Installer may serve any
// number of runs at once.
type Installer struct {
	// Registry answers for module registries. nil means a
	// *registryclient.Client without credentials.
	Registry Registry
	// Fetcher fetches packages. nil means a *getmodules.Fetcher whose git
	// stores are under CacheDir, without Getters: S3, Google Cloud Storage and
	// Mercurial are for one with those of packages s3, gcs and hg.
	Fetcher Fetcher
	// Providers is where providers come from: registries, mirrors, or both. nil means
	// the providers' own registries, asked without credentials. OpenTofu's own registry
	// is believed without a signature, as tofu does.
	Providers getproviders.Source
	// PluginCacheDir is the plugin cache directory of stock tools. What it has of a
	// locked provider is used if its hash is in the lock; nothing is written there. ""
	// means none.
	PluginCacheDir string
	// Stores have packages of locks besides their origins: bundles and mirrors (packages
	// bundle and mirror). They are asked in this order, before the origins, and only for
	// what a lock has an entry for. See [PackageStore] for which of them may confirm what.
	Stores []PackageStore
	// Config reads the module calls of a directory. nil means our own reader.
	Config ConfigReader
	// CacheDir is the user's cache, shared by all projects and processes. ""
	// means that nothing is kept but what is installed.
	//
	// A cache that cannot be written is replaced by a temporary one, with a
	// [Warning].
	CacheDir string
	// StateDir is the user's directory for the key by which runs recognise what
	// earlier runs of the same user left: in the project, a change that was
	// interrupted and the former lock; in the cache, which entries of locks an
	// origin has confirmed. The key is made on first use. "" means that nothing
	// of that counts, so each run asks the origins of all locked packages.
	StateDir string
	// StateKey is a secret of at least 32 characters that takes the place of the
	// key in StateDir, for machines that forget everything. "" means none.
	StateKey string
	// Parallel is how many packages are worked on at once; 0 means 16.
	Parallel int
	// OnEvent is told what happens. See [Event] for what it may rely on.
	OnEvent func(Event)

	// shared is the session of all runs of a copy that Share made.
	shared *session
}

// Registry is what an Installer asks module registries. Implementations must
// be safe for concurrent use; *registryclient.Client is one.
type Registry interface {
	// ModuleVersions lists the versions that a package has.
	ModuleVersions(ctx context.Context, pkg addrs.ModuleRegistryPackage) ([]versions.Candidate, error)
	// PackageLocation says where a version of a package is.
	PackageLocation(ctx context.Context, pkg addrs.ModuleRegistryPackage, v versions.Version) (registryclient.Location, error)
	// Download writes the archive of a package that the registry hosts itself
	// to w: one whose location is Direct.
	Download(ctx context.Context, pkg addrs.ModuleRegistryPackage, at registryclient.Location, w io.Writer) error
}

// Fetcher fetches packages and answers for their origins. Implementations must
// be safe for concurrent use; *getmodules.Fetcher is one. A method that cannot
// do its work returns an error, which fails what depends on it: nothing that
// cannot be checked passes for checked.
type Fetcher interface {
	// Fetch fetches a package into req.Dir, which does not exist yet.
	Fetch(ctx context.Context, req getmodules.Request) (*getmodules.Package, error)
	// Reference asks which revision the address of a package means now.
	Reference(ctx context.Context, req getmodules.Request) (getmodules.Reference, error)
	// Tags lists the tags of the git repository of req.Package, with their
	// commits.
	Tags(ctx context.Context, req getmodules.Request) ([]getmodules.Tag, error)
	// OCIRepository opens the repository of req.Package in an OCI registry; it
	// sends nothing yet.
	OCIRepository(req getmodules.Request) (getmodules.OCIRepository, error)
	// ExtractArchive extracts an archive that a registry hosts to dir, which does not
	// exist yet. kind is as for [getmodules.Fetcher.ExtractArchive].
	ExtractArchive(ctx context.Context, file *os.File, kind, dir string) (*getmodules.Package, error)
	// Interactive reports whether a method may wait for the user, for a password for
	// example. Then no other process is made to wait for this one's fetches.
	Interactive() bool
}

// defaultParallel is how many packages are worked on at once. Most of the time
// a worker waits for the network.
const defaultParallel = 16

var (
	_ Registry = (*registryclient.Client)(nil)
	_ Fetcher  = (*getmodules.Fetcher)(nil)
)

// parallel is how many pieces of work are done at once.
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
