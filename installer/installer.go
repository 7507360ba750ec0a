package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/userkey"
	"github.com/cotterpin/cotter/registryclient"
)

// Installer installs, locks and verifies the modules and providers of configurations. [New] makes one; the
// zero value is one without options. It may serve any number of runs at once.
type Installer struct {
	options Options
	// shared is the pool of all runs of a copy that Share or forEachProject made; nil for
	// other Installers.
	shared *pool
}

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
	// So whoever can write to the data directory and to the lock decides what runs: the author of a
	// commit with both, a restored CI cache. That is nobody new if the program fetches nothing
	// from others, or has checked these files itself. What is not installed, and what is copied to a
	// vendor directory, a mirror or a bundle, must be confirmed as usual. The packages have the
	// evidence evidence.Installed.
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

// New returns an Installer whose discovery, registry client and fetcher share an
// HTTP client and credentials, unless the options bring their own.
func New(o Options) *Installer {
	services := &disco.Client{
		HTTPClient: o.HTTPClient, UserAgent: o.UserAgent, Attempts: o.Attempts,
		ForcedServices: o.Services,
	}
	if o.Credentials != nil {
		services.Credentials = o.Credentials
	}
	registry := &registryclient.Client{
		Services:   services,
		HTTPClient: o.HTTPClient, UserAgent: o.UserAgent, Attempts: o.Attempts,
	}
	if o.Registry == nil {
		o.Registry = registry
	}
	if o.Providers == nil {
		o.Providers = &getproviders.Direct{
			Registry: registry, TrustedHost: addrs.DefaultRegistryHost, AllowWeakSignatures: true, // policies decide
			HTTPClient: o.HTTPClient, UserAgent: o.UserAgent, Attempts: o.Attempts,
		}
	}
	o.Fetcher = o.fetcher()
	o.LocalHosts = append(slices.Clone(o.LocalHosts), hostsOf(o.Services)...)
	return &Installer{options: o}
}

// Options returns the options of the Installer, with the clients that New has made. A program can wrap
// one of them:
//
//	o := installer.New(options).Options()
//	o.Fetcher = counting{o.Fetcher}
//	in := installer.New(o)
func (in *Installer) Options() Options { return in.options }

// fetcher returns the Fetcher of the options. A *getmodules.Fetcher gets the settings that it
// shares with the other clients.
func (o Options) fetcher() Fetcher {
	f := &getmodules.Fetcher{}
	switch given := o.Fetcher.(type) {
	case nil:
	case *getmodules.Fetcher:
		f = given.Fresh()
	default:
		return given
	}
	if f.HTTPClient == nil {
		f.HTTPClient, f.HTTPClientForGit = o.HTTPClient, true
	}
	if f.Attempts == 0 {
		f.Attempts = o.Attempts
	}
	f.UserAgent, f.CacheDir = cmp.Or(f.UserAgent, o.UserAgent), cmp.Or(f.CacheDir, o.CacheDir)
	if o.Credentials == nil {
		return f
	}
	if f.HTTPCredentials == nil {
		f.HTTPCredentials = o.Credentials.HTTPCredentials
	}
	if f.OCICredentials == nil {
		f.OCICredentials = o.Credentials.OCICredentials
	}
	if f.GitCredentials == nil {
		f.GitCredentials = o.Credentials.GitCredentials
	}
	return f
}

// hostsOf returns the hosts and ports of services that the user has named, with a port.
func hostsOf(services map[addrs.Hostname]map[string]any) (hosts []string) {
	for _, urls := range services {
		for _, text := range urls {
			text, _ := text.(string)
			if u, err := url.Parse(text); err == nil && u.Hostname() != "" {
				hosts = append(hosts, httpx.HostPort(u))
			}
		}
	}
	return hosts
}

func clientsOf(in *Installer) clients {
	o := in.options
	c := clients{
		registry: o.Registry, fetcher: o.Fetcher, providers: o.Providers, pluginCacheDir: o.PluginCacheDir, stores: o.Stores,
		config: o.Config, cacheDir: o.CacheDir, parallel: o.Parallel, trustInstalled: o.TrustInstalled, hook: hookOf(o.Logger, o.Trace), shared: in.shared,
	}
	for _, host := range o.LocalHosts {
		c.localHosts = append(c.localHosts, httpx.HostPort(&url.URL{Scheme: "https", Host: host}))
	}
	if c.registry == nil {
		c.registry = &registryclient.Client{Services: &disco.Client{}}
	}
	if c.providers == nil {
		c.providers = &getproviders.Direct{
			Registry: &registryclient.Client{Services: &disco.Client{}}, TrustedHost: addrs.DefaultRegistryHost, AllowWeakSignatures: true,
		}
	}
	if c.cacheErr = pathsafe.CheckOwners(c.cacheDir); c.cacheErr != nil {
		c.cacheDir = ""
	}
	if c.parallel <= 0 {
		c.parallel = defaultParallel
	}
	return c
}

// eventsOf returns the events of a run, which go to the callback of the project, or to that of the
// Installer if the project has none.
func eventsOf(in *Installer, p Project) *events {
	fn := in.options.OnEvent
	if p.OnEvent != nil {
		fn = p.OnEvent
	}
	return &events{fn: logged(in.options.Logger, fn)}
}

// userOf returns the user of an Installer's runs. If the key cannot be used, the user has a random
// one and a warning is sent; other runs do not recognize files sealed with a random key. The same
// warning says if the cache is not protected from other users. Runs that only read pass nil events,
// and create no key.
func userOf(in *Installer, events *events) (user, error) {
	if in.shared != nil {
		return in.shared.user, nil
	}
	stateDir := in.options.StateDir
	if in.options.StateKey != "" {
		stateDir = "" // it is not used
	}
	exposed := pathsafe.CheckOwners(in.options.CacheDir, stateDir)
	if exposed != nil && events != nil {
		events.emit(event.Warning{
			Message: fmt.Sprintf("%s; so nothing there is used, and nothing that this run learns is kept for later runs", exposed),
			Kind:    event.WarningExposed,
			Err:     exposed,
		})
	}
	u := user{hasState: in.options.StateDir != "" || in.options.StateKey != ""}
	var err error
	switch {
	case in.options.StateKey != "":
		u.key, err = userkey.FromSecret(in.options.StateKey)
		return u, err
	case in.options.StateDir == "":
		u.key = userkey.Random()
		return u, nil
	}
	read := userkey.ReadOrMake
	if events == nil {
		read = userkey.Read
	}
	if u.key, err = read(in.options.StateDir); err == nil {
		return u, nil
	}
	if events != nil && !errors.As(err, new(*pathsafe.ExposedError)) {
		events.warn(nil, fmt.Sprintf("the user's key in %s cannot be used (%s), so the files of earlier runs are not trusted", in.options.StateDir, err))
	}
	u.key = userkey.Random()
	return u, nil
}
