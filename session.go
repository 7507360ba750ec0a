package cotter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/internal/stores"
	"github.com/cotterpin/cotter/internal/treeproviders"
	"github.com/cotterpin/cotter/internal/userkey"
)

// session is shared by all runs that one call of Install or InstallAll starts. It has the
// clients, the cache, and the answers of origins. Each listing, location and package is
// requested only once, even if several projects need it.
type session struct {
	*origins.Session
	key *userkey.Key
	// stores has the answers of bundles and mirrors. always lists the stores that all
	// projects ask.
	stores *stores.Session
	always []PackageStore
	// providers has the answers of provider sources.
	providers *treeproviders.Session

	cacheWarning sync.Once
}

// newSession starts a session, which must be closed. It keeps packages in the user's cache,
// or in the directory temporary if there is no cache or the cache cannot be used.
func (in *Installer) newSession(key *userkey.Key, temporary string) (*session, error) {
	shared := &origins.Session{Registry: in.registry(), Began: time.Now(), Slots: make(chan struct{}, in.parallel()), Requests: make(chan struct{}, requestsPerSlot*in.parallel()), Transfers: make(chan struct{}, requestsPerSlot*in.parallel())}
	var err error
	if in.CacheDir != "" {
		shared.Cache, shared.CacheErr = pkgcache.Open(in.CacheDir, key)
	}
	if shared.Cache == nil {
		if shared.Cache, err = pkgcache.Open(temporary, key); err != nil {
			return nil, errors.Join(shared.CacheErr, err)
		}
	}
	shared.Fetcher = in.fetcher(shared.Cache.Dir())
	s := &session{Session: shared, key: key, always: in.Stores, stores: stores.NewSession(shared)}
	s.providers = &treeproviders.Session{
		Source: in.providers(), PluginCache: getproviders.PluginCache{Dir: in.PluginCacheDir},
		Open: func() *providerstore.Store {
			return providerstore.Open(in.CacheDir, filepath.Join(s.Cache.StageDir(), "providers"), key)
		},
	}
	return s, nil
}

// storesOf returns the stores of a project, in the order in which they are asked.
func (s *session) storesOf(req Request, events *events) *stores.Stores {
	of := &stores.Stores{Session: s.stores, Offline: req.Offline, Check: checkStatement, OnEvent: events.ofOrigins}
	for _, store := range slices.Concat(req.Stores, s.always) {
		of.Order = append(of.Order, s.stores.ID(store))
	}
	return of
}

// namedEvidence returns the evidence that the stores of a request give.
func (in *Installer) namedEvidence(req Request) []evidence.Evidence {
	var named []evidence.Evidence
	for _, store := range slices.Concat(req.Stores, in.Stores) {
		if e := store.Evidence(); !e.IsZero() {
			named = append(named, e)
		}
	}
	return named
}

// close ends the session. It first waits for canceled work, which may still write to the
// cache. It also waits for git and hg, which would otherwise outlive this process.
func (s *session) close() error {
	s.Session.Wait()
	s.stores.Wait()
	s.providers.Wait()
	return errors.Join(s.providers.Close(), s.Cache.Close())
}

// projectSession starts a session for one project, or returns the session that in shares.
// Without a cache, packages are kept until done is called. For a project that is changed,
// they are kept in its staging directory.
func (in *Installer) projectSession(p *openProject) (_ *session, done func() error, err error) {
	if in.shared != nil || !p.req.places() {
		s, done, err := in.sharedSession(p.key)
		return s, func() error { done(); return nil }, err
	}
	s, err := in.newSession(p.key, p.files.Stage("@cache")) // no call has a key with "@"
	if err != nil {
		return nil, nil, err
	}
	return s, s.close, nil
}

// sharedSession starts a session that belongs to no project, or returns the session that in
// shares. Without a cache, packages are kept until done is called.
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

// warnOfCache warns once per session that packages are not kept.
func (s *session) warnOfCache(events *events) {
	s.cacheWarning.Do(func() {
		if s.CacheErr != nil {
			events.emit(Warning{
				Message: fmt.Sprintf("the cache cannot be used, so nothing that is fetched is kept for later runs: %s", s.CacheErr),
				Kind:    WarningNoCache,
			})
		}
	})
}

// originsFor returns the origins of the session, as a run in the project may use them.
func (s *session) originsFor(p *openProject, events *events) *origins.Origins {
	return &origins.Origins{Session: s.Session, Offline: p.req.Offline, Rules: p.rules, Submodules: p.req.Submodules, OnEvent: events.ofOrigins}
}
