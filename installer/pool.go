package installer

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/disk/filelock"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/process/trace"
	"github.com/cotterpin/cotter/internal/provider/treeproviders"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/internal/store/storefetch"
)

// clients are the options of an Installer with defaults, and what its runs share. CacheDir is "" if there is no
// cache, or if other users can exchange it. Config is nil for the reader that is made for each request.
// LocalHosts are hosts and ports as httpx compares them.
type clients struct {
	Options
	// cacheErr says why the cache is not used.
	cacheErr error
	// hook is told of each operation; nil if there is none.
	hook trace.Hook
	// shared is the pool that all runs share; nil if each has its own.
	shared *pool
}

func (c clients) ruleFor(run evidencerules.Run) evidencerules.Rule {
	if c.TrustInstalled {
		return evidencerules.For(run).Trusting()
	}
	return evidencerules.For(run)
}

// defaultParallel is the default of [Options.Parallel]. Most of the time a worker waits for the network.
const defaultParallel = 16

// requestsPerSlot is the number of small requests at once for each package that is worked on.
const requestsPerSlot = 4

func (c clients) configFor(req request) (ConfigReader, error) {
	if c.Config != nil {
		return editedReader(c.Config, req.Edited), nil
	}
	reader, err := DefaultConfigReader(req.Project)
	return editedReader(reader, req.Edited), err
}

func (c clients) evidenceOf(req request) []evidence.Evidence {
	var named []evidence.Evidence
	for _, store := range slices.Concat(req.Stores, c.Stores) {
		if e := storefetch.EvidenceOf(store); !e.IsZero() {
			named = append(named, e)
		}
	}
	return named
}

// poolFor starts a pool for one project, or returns the one that the clients share. All requests of the run
// must have the returned context. Without a cache, packages are kept until done is called; for a project that
// is changed, in its staging directory.
func (c clients) poolFor(ctx context.Context, p *openProject) (_ context.Context, _ *pool, done func() error, err error) {
	if c.shared != nil || !p.req.placesModules() {
		ctx, s, done, err := c.pool(ctx, p.user)
		return ctx, s, func() error { done(); return nil }, err
	}
	s, err := newPool(c, p.user, p.files.StagePath("@cache")) // no call has a key with "@"
	if err != nil {
		return nil, nil, nil, err
	}
	return s.in(ctx), s, s.close, nil
}

// pool is like poolFor, for a pool that belongs to no project.
func (c clients) pool(ctx context.Context, by user) (_ context.Context, _ *pool, done func(), err error) {
	s, done, err := c.openPool(by)
	if err != nil {
		return nil, nil, nil, err
	}
	return s.in(ctx), s, done, nil
}

// openPool is pool without a context.
func (c clients) openPool(by user) (_ *pool, done func(), err error) {
	if c.shared != nil {
		return c.shared, func() {}, nil
	}
	temporary, remove, err := filelock.MkdirTemp("cotter-run-")
	if err != nil {
		return nil, nil, err
	}
	s, err := newPool(c, by, temporary)
	if err != nil {
		remove()
		return nil, nil, err
	}
	return s, func() {
		_ = s.close() // the next process removes what is left
		remove()
	}, nil
}

// pool is shared by all runs that one call of Install or InstallAll starts. Each listing, location and package
// is requested only once, even if several projects need it.
type pool struct {
	*origins.Client
	// memory has the answers that clients keep, so that clients that live longer ask again in the next pool.
	memory singleflight.Memory
	// disk is what all projects together may write.
	disk *packagelimits.Disk
	hook trace.Hook // is told of each operation, and may be nil
	user user
	// stores has the answers of bundles and mirrors. always lists those that all projects ask.
	stores    *storefetch.Answers
	always    []PackageStore
	providers *treeproviders.Client

	cacheWarning sync.Once
}

// newPool starts a pool, which must be closed. Without a usable cache, it keeps packages in the directory
// temporary.
func newPool(c clients, by user, temporary string) (*pool, error) {
	shared := &origins.Client{
		Registry: c.Registry, Fetcher: c.Fetcher, Began: time.Now(), Slots: make(chan struct{}, c.Parallel),
		Requests: make(chan struct{}, requestsPerSlot*c.Parallel), Transfers: make(chan struct{}, requestsPerSlot*c.Parallel),
	}
	var err error
	shared.CacheErr = c.cacheErr
	if c.CacheDir != "" {
		shared.Cache, shared.CacheErr = store.OpenModules(c.CacheDir, by.key)
	}
	if shared.Cache == nil {
		if shared.Cache, err = store.OpenModules(temporary, by.key); err != nil {
			return nil, errors.Join(shared.CacheErr, err)
		}
	}
	shared.Cache.Limits = packageLimits(c.Fetcher)
	s := &pool{Client: shared, disk: packagelimits.NewDisk(c.MaxDisk), hook: c.hook, user: by, always: c.Stores, stores: storefetch.NewAnswers(shared)}
	s.providers = &treeproviders.Client{
		Source: c.Providers, PluginCache: getproviders.PluginCache{Dir: c.PluginCacheDir},
		Open: func() *store.Providers {
			return store.OpenProviders(c.CacheDir, filepath.Join(s.Cache.StageDir(), "providers"), by.key)
		},
	}
	return s, nil
}

// packageLimits are those of a package in this run. A caller's fetcher may have any, up to the highest that ours can have.
func packageLimits(f Fetcher) treewriter.Limits {
	own, ok := f.(*getmodules.Fetcher)
	if !ok {
		return treewriter.Limits{TreeBytes: packagelimits.MaxBytes, Entries: packagelimits.MaxEntries}
	}
	return treewriter.Limits{
		TreeBytes: min(own.Limits.TreeBytes, packagelimits.MaxBytes),
		FileBytes: min(own.Limits.FileBytes, packagelimits.MaxBytes),
		Entries:   min(own.Limits.Entries, packagelimits.MaxEntries),
	}
}

// in returns the context of the pool's requests.
func (s *pool) in(ctx context.Context) context.Context {
	ctx = s.disk.In(s.memory.In(ctx))
	if s.hook != nil {
		ctx = trace.With(ctx, s.hook)
	}
	return ctx
}

func (s *pool) originsFor(p *openProject, events *events) *origins.Origins {
	return &origins.Origins{Client: s.Client, Offline: p.req.Offline, Rules: p.rules, Submodules: p.req.Submodules, OnEvent: events.emit}
}

func (s *pool) storesOf(req request, events *events) *storefetch.Stores {
	of := &storefetch.Stores{Answers: s.stores, Offline: req.Offline, Check: checkStatement, OnEvent: events.emit}
	for _, store := range slices.Concat(req.Stores, s.always) {
		of.Order = append(of.Order, s.stores.ID(store))
	}
	return of
}

// warnOfCache warns once per pool that packages are not kept. userOf has warned of a cache that other users can
// exchange.
func (s *pool) warnOfCache(events *events) {
	s.cacheWarning.Do(func() {
		if s.CacheErr != nil && !errors.As(s.CacheErr, new(*pathsafe.ExposedError)) {
			events.emit(event.Warning{
				Message: fmt.Sprintf("the cache cannot be used, so nothing that is fetched is kept for later runs: %s", s.CacheErr),
				Kind:    event.WarningNoCache,
			})
		}
	})
}

// close ends shared connections of ssh.
func (s *pool) close() error {
	s.memory.Close()
	return errors.Join(s.providers.Close(), s.Cache.Close())
}
