package cotter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/internal/userkey"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

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
	// stored is what bundles and mirrors have.
	stored storedPackages
}

// release is one version of a registry's package.
type release struct {
	pkg     addrs.ModuleRegistryPackage
	version versions.Version
}

// repositoryKey is what makes two listings of tags the same.
type repositoryKey struct {
	repository  addrs.ModulePackage
	fromPackage bool
}

func repositoryOf(c *call) repositoryKey { return repositoryKey{c.repository, c.fromPackage()} }

func (k repositoryKey) request() getmodules.Request {
	return getmodules.Request{Package: k.repository, FromPackage: k.fromPackage}
}

// referenceKey is what makes two questions about a reference the same.
type referenceKey struct {
	pkg                     addrs.ModulePackage
	fromServer, fromPackage bool
	// locked is the commit of the lock if the address may abbreviate it.
	locked string
}

// fetchKey is what makes two fetches the same.
type fetchKey struct {
	pkg         addrs.ModulePackage
	revision    string
	fromServer  bool
	fromPackage bool
	hosted      bool
	submodules  bool
	// places are the rules about where a fetch may be redirected.
	places string
	// want is the t1 hash that the lock has for it; "" if it has none.
	want hashing.Hash
	// fresh means that nothing counts but what the origin sends.
	fresh bool
}

// providerKey is what makes two packages of providers the same.
type providerKey struct {
	provider addrs.Provider
	version  versions.Version
	platform addrs.Platform
	locked   string // the lock's hashes
}

func keyOf(want providers.Want) providerKey {
	var locked strings.Builder
	for _, h := range want.Locked {
		locked.WriteString(string(h) + "\n")
	}
	return providerKey{want.Provider, want.Version, want.Platform, locked.String()}
}

// fetched is a package in the cache, hashed from disk.
type fetched struct {
	resolved addrs.ModulePackage
	archive  hashing.Hash // zh:, "" if none counts
	tree     *pkgtree.Tree
	gitlinks []string
	leftOut  []getmodules.Link
}

func newFetched(from *pkgcache.Fetched) *fetched {
	got := &fetched{
		resolved: addrs.ParseModulePackage(from.Answer.Package),
		archive:  from.Answer.Archive,
		tree:     from.Tree,
		gitlinks: from.Answer.Gitlinks,
	}
	for _, link := range from.Answer.LeftOut {
		got.leftOut = append(got.leftOut, getmodules.Link(link))
	}
	return got
}

// hashes are a package's hashes as the lock has them.
func (f *fetched) hashes() []hashing.Hash {
	hashes := []hashing.Hash{f.tree.H1(), f.tree.T1()}
	if f.archive != "" {
		hashes = append(hashes, f.archive)
	}
	return hashes
}

// artifact is an artifact of an OCI repository, and what it was fetched by.
type artifact struct {
	key fetchKey
	got *fetched
}

// newSession starts a session, which must be closed. Its packages are kept in the
// user's cache, or at temporary if there is none that can be written.
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
	s.stored.stores = in.Stores
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
