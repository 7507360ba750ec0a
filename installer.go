package cotter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/internal/userkey"
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

// session is what the runs share that one call of Install or InstallAll starts: the
// clients, the cache, and what origins have answered. Each listing, location and
// package is asked for once, whichever projects need it.
type session struct {
	registry Registry
	fetcher  Fetcher
	key      *userkey.Key
	cache    *pkgcache.Cache
	// cacheErr is why the user's cache could not be used, if a temporary one
	// has taken its place.
	cacheErr error
	began    time.Time

	// slots bounds what is done at once. A goroutine that has a slot waits for no
	// other one.
	slots chan struct{}
	// waitAtEnd says that there may be work that was cancelled and has not ended; see ahead.
	waitAtEnd atomic.Bool

	tags     singleflight.Memo[repositoryKey, []getmodules.Tag]
	ociTags  singleflight.Memo[repositoryKey, []versions.Candidate]
	listings singleflight.Memo[addrs.ModuleRegistryPackage, []versions.Candidate]
	// providers is where providers come from. providerStore opens where they are kept,
	// for runs that need it.
	providers        getproviders.Source
	pluginCache      getproviders.PluginCache
	providerStore    func() *providerstore.Store
	closeProviders   func() error
	providerSlots    providers.Slots
	providerPackages singleflight.Memo[providerKey, *providers.Got]
	providerHashes   singleflight.Memo[providerKey, *providers.Proof]
	providerListings singleflight.Memo[addrs.Provider, getproviders.Listing]
	locations        singleflight.Memo[release, registryclient.Location]
	references       singleflight.Memo[referenceKey, getmodules.Reference]
	packages         singleflight.Memo[fetchKey, *fetched]
	// artifacts are the first that were fetched from OCI repositories, by the
	// repositories' addresses.
	artifacts singleflight.Memo[addrs.ModulePackage, artifact]
	// stores are asked for all projects, and stored is what bundles and mirrors have.
	stores []PackageStore
	stored storedPackages
}

// newSession starts a session, which must be closed. Its packages are kept in the
// user's cache, or at temporary if that cannot be written.
func (in *Installer) newSession(key *userkey.Key, temporary string) (*session, error) {
	s := &session{
		registry: in.registry(),
		key:      key,
		began:    time.Now(),
		slots:    make(chan struct{}, in.parallel()),
	}
	var err error
	if in.CacheDir != "" {
		s.cache, s.cacheErr = pkgcache.Open(in.CacheDir, key)
	}
	if s.cache == nil {
		if s.cache, err = pkgcache.Open(temporary, key); err != nil {
			return nil, errors.Join(s.cacheErr, err)
		}
	}
	s.fetcher = in.fetcher(s.cache.Dir())
	s.stores = in.Stores
	s.providers, s.pluginCache = in.providers(), getproviders.PluginCache{Dir: in.PluginCacheDir}
	s.closeProviders = func() error { return nil }
	s.providerStore = sync.OnceValue(func() *providerstore.Store {
		store := providerstore.Open(in.CacheDir, filepath.Join(s.cache.StageDir(), "providers"), key)
		s.closeProviders = store.Close
		return store
	})
	return s, nil
}

// close ends the session.
func (s *session) close() error {
	if s.waitAtEnd.Load() {
		s.packages.Wait()
		s.stored.trees.Wait()
		s.providerPackages.Wait()
	}
	return errors.Join(s.closeProviders(), s.cache.Close())
}

// ahead returns a context for work that may turn out not to be needed, and the function
// that cancels it. What writes to the cache then ends before the session does, unless
// the user interrupts the program.
func (s *session) ahead(ctx context.Context) (cancellable context.Context, stop func()) {
	cancellable, cancel := context.WithCancel(ctx)
	return cancellable, func() {
		cancel()
		if ctx.Err() == nil {
			s.waitAtEnd.Store(true)
		}
	}
}

// projectSession starts a session for one project. Without a cache, packages are kept
// until done is called, on the stage of a project that is changed.
func (in *Installer) projectSession(p *openProject) (_ *session, done func() error, err error) {
	if !p.req.places() {
		s, done, err := in.sharedSession(p.key)
		return s, func() error { done(); return nil }, err
	}
	s, err := in.newSession(p.key, p.files.Stage("@cache")) // no call has a key with "@"
	if err != nil {
		return nil, nil, err
	}
	return s, s.close, nil
}

// sharedSession starts a session that belongs to no project. Without a cache,
// packages are kept until done is called.
func (in *Installer) sharedSession(key *userkey.Key) (_ *session, done func(), err error) {
	if in.shared != nil {
		return in.shared, func() {}, nil
	}
	temporary, err := os.MkdirTemp("", "cotter-")
	if err != nil {
		return nil, nil, err
	}
	s, err := in.newSession(key, temporary)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(temporary))
	}
	return s, func() {
		_ = s.close() // the next process removes what is left
		_ = os.RemoveAll(temporary)
	}, nil
}

// Share returns a copy of in whose runs of Outdated, OutdatedProviders and VerifyRemote
// share what origins answer: each version, tag and package is asked for once, whichever
// configurations need it. Its fields may be set. Answers are kept until done is called,
// after all runs.
//
// InstallAll does the same for installations.
func (in *Installer) Share() (_ *Installer, done func(), err error) {
	key, err := in.userKey(nil)
	if err != nil {
		return nil, nil, err
	}
	copied := *in
	copied.shared, done, err = in.sharedSession(key)
	return &copied, done, err
}

// withCache adds to a request what the fetcher needs to know of the session's
// cache.
func (s *session) withCache(req getmodules.Request) getmodules.Request {
	req.Scratch, req.NoCache = s.cache.StageDir(), s.cacheErr != nil
	return req
}

// warnOfCache tells the user that packages are not kept.
func (s *session) warnOfCache(events *events) {
	if s.cacheErr != nil {
		events.emit(Warning{
			Message: fmt.Sprintf("the cache cannot be used, so nothing that is fetched is kept for later runs: %s", s.cacheErr),
			Kind:    WarningNoCache,
		})
	}
}

// slot waits until there is room for one more piece of work; the function that
// it returns makes room again.
func (s *session) slot(ctx context.Context) (release func(), err error) {
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
