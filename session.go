package cotter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/store"
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
		shared.Cache, shared.CacheErr = store.OpenModules(in.CacheDir, key)
	}
	if shared.Cache == nil {
		if shared.Cache, err = store.OpenModules(temporary, key); err != nil {
			return nil, errors.Join(shared.CacheErr, err)
		}
	}
	shared.Fetcher = in.fetcher(shared.Cache.Dir())
	s := &session{Session: shared, key: key, always: in.Stores, stores: stores.NewSession(shared)}
	s.providers = &treeproviders.Session{
		Source: in.providers(), PluginCache: getproviders.PluginCache{Dir: in.PluginCacheDir},
		Open: func() *store.Providers {
			return store.OpenProviders(in.CacheDir, filepath.Join(s.Cache.StageDir(), "providers"), key)
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

// Share returns a copy of in whose runs share the answers of origins: each version, tag and
// package is requested only once, even if several configurations need it. The fields of the
// copy may be changed. done discards the answers; call it after all runs. InstallAll shares
// answers among its installations in the same way.
func (in *Installer) Share() (_ *Installer, done func(), err error) {
	key, err := in.userKey(nil)
	if err != nil {
		return nil, nil, err
	}
	copied := *in
	copied.shared, done, err = in.sharedSession(key)
	return &copied, done, err
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

// ProjectError is the error of one of the configurations that InstallAll, LockedPackages or
// LockedProviders process.
type ProjectError struct {
	// Dir is the root module's directory, as passed to the method.
	Dir string
	// Err is the error for this project.
	Err error
}

func (e *ProjectError) Error() string { return fmt.Sprintf("%s: %s", e.Dir, e.Err) }

func (e *ProjectError) Unwrap() error { return e.Err }

// InstallAll is Install for several root modules at once. req applies to each of them, with
// its directory replaced. Each version, tag and package is requested only once, even if
// several of them need it. If a project fails, the others continue. The results are in the
// order of dirs, with nil for a project that failed. The error joins a *[ProjectError] for
// each failed project. The calls and providers that req.Update names need to exist in only
// one of the projects.
//
// onEvent is used instead of in.OnEvent, and may be nil. dir is the project of the event,
// or "" if the event concerns all projects. onEvent is never called twice at once.
func (in *Installer) InstallAll(ctx context.Context, dirs []string, req Request, onEvent func(dir string, event Event)) ([]*Result, error) {
	results := make([]*Result, len(dirs))
	err := in.forEachProject(dirs, req, onEvent, func(in *Installer, i int, req Request) error {
		req.Update.several = true
		result, err := in.Install(ctx, req)
		if err == nil {
			results[i] = result
		}
		return err
	})
	if err != nil {
		return results, err
	}
	return results, errors.Join(req.Update.missing(results)...)
}

// missing returns the errors about calls and providers that an update names and that no
// project has.
func (u Update) missing(results []*Result) []error {
	var errs []error
	for _, key := range u.Keys {
		if !slices.ContainsFunc(results, func(r *Result) bool { return r.hasCall(key) }) {
			errs = append(errs, fmt.Errorf("%q: %w", key, ErrNoSuchCall))
		}
	}
	for _, address := range u.Providers {
		if !slices.ContainsFunc(results, func(r *Result) bool { return r.requires(address) }) {
			errs = append(errs, fmt.Errorf("provider %s: %w", address, ErrNoSuchProvider))
		}
	}
	return errs
}

// hasCall reports whether the result has a call with a package of its own.
func (r *Result) hasCall(key string) bool {
	return slices.ContainsFunc(r.Modules, func(m Module) bool { return m.Path.String() == key && m.Package != "" })
}

// requires reports whether the result has a provider, given its address in a configuration.
func (r *Result) requires(address string) bool {
	provider, err := r.Dialect.parser().ParseProviderSource(address)
	return err == nil && slices.ContainsFunc(r.Providers, func(p Provider) bool { return p.Address == provider })
}

// forEachProject calls work for several root modules in parallel. work gets the index and
// the request of a root module, and a copy of in; the copies share a session. If a project
// fails, the others continue. The error joins a *ProjectError for each failed project.
func (in *Installer) forEachProject(dirs []string, req Request, onEvent func(string, Event), work func(*Installer, int, Request) error) error {
	serial := serialEvents(onEvent)
	all := &events{fn: serial("")}
	key, err := in.userKey(all)
	if err != nil {
		return err
	}
	shared, done, err := in.sharedSession(key)
	if err != nil {
		return err
	}
	defer done()
	shared.warnOfCache(all)
	failures := make([]error, len(dirs))
	var group errgroup.Group
	group.SetLimit(in.parallel())
	for i, dir := range dirs {
		group.Go(func() error {
			req, err := req.inDir(dir)
			if err == nil {
				one := *in
				one.shared, one.OnEvent = shared, serial(dir)
				err = work(&one, i, req)
			}
			if err != nil {
				failures[i] = &ProjectError{dir, err}
			}
			return nil // the other projects continue
		})
	}
	_ = group.Wait() // errors are in failures
	return errors.Join(failures...)
}

// serialEvents returns a function that creates the callback for one project from the
// callback for all.
func serialEvents(onEvent func(string, Event)) func(dir string) func(Event) {
	if onEvent == nil {
		return func(string) func(Event) { return nil }
	}
	var mu sync.Mutex
	return func(dir string) func(Event) {
		return func(event Event) {
			mu.Lock()
			defer mu.Unlock()
			onEvent(dir, event)
		}
	}
}
