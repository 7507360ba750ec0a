package cotter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/internal/stores"
	"github.com/cotterpin/cotter/internal/treeproviders"
	"github.com/cotterpin/cotter/internal/userkey"
)

// session is what the runs share that one call of Install or InstallAll starts: the
// clients, the cache, and what origins have answered. Each listing, location and
// package is asked for once, whichever projects need it.
type session struct {
	*origins.Session
	key *userkey.Key
	// stores are what bundles and mirrors have, and always those that all projects ask.
	stores *stores.Session
	always []PackageStore
	// providers are what sources of providers have answered.
	providers *treeproviders.Session
}

// newSession starts a session, which must be closed. Its packages are kept in the
// user's cache, or at temporary if that cannot be written.
func (in *Installer) newSession(key *userkey.Key, temporary string) (*session, error) {
	shared := &origins.Session{Registry: in.registry(), Began: time.Now(), Slots: make(chan struct{}, in.parallel())}
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

// close ends the session. Before that it waits for work that was cancelled: it may still
// write to the cache, and git and hg run on if the process ends before it has ended them.
func (s *session) close() error {
	s.Session.Wait()
	s.stores.Wait()
	s.providers.Wait()
	return errors.Join(s.providers.Close(), s.Cache.Close())
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

// warnOfCache tells the user that packages are not kept.
func (s *session) warnOfCache(events *events) {
	if s.CacheErr != nil {
		events.emit(Warning{
			Message: fmt.Sprintf("the cache cannot be used, so nothing that is fetched is kept for later runs: %s", s.CacheErr),
			Kind:    WarningNoCache,
		})
	}
}

// originsFor returns what a run may ask of origins in the session.
func (s *session) originsFor(p *openProject, events *events) *origins.Origins {
	return &origins.Origins{Session: s.Session, Offline: p.req.Offline, Rules: p.rules, Submodules: p.req.Submodules, OnEvent: events.ofOrigins}
}

// inquiry is a run that asks origins about a project and changes nothing.
type inquiry struct {
	*openProject
	session *session
	origins *origins.Origins
	events  *events
	done    func()
}

// openToAsk opens a project for a run that asks origins. It must be closed.
func (in *Installer) openToAsk(ctx context.Context, req Request) (*inquiry, error) {
	p, err := in.view(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := p.readRules(); err != nil {
		return nil, errors.Join(err, p.close())
	}
	session, done, err := in.sharedSession(p.key)
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	events := &events{fn: in.OnEvent}
	return &inquiry{openProject: p, session: session, origins: session.originsFor(p, events), events: events, done: done}, nil
}

// close ends the run.
func (q *inquiry) close() error {
	q.done()
	return q.openProject.close()
}
