package cotter

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/lockfile"
)

// LockedProvider is the package of a provider for a platform that an entry of a lock names.
type LockedProvider struct {
	// Project is the root module's directory, as LockedProviders got it.
	Project string
	// Entry is the entry of the project's lock.
	Entry    lockfile.Provider
	Platform addrs.Platform

	archive func(context.Context) (*providers.Archive, error)
}

// ProviderArchive is the archive of a provider's package, which was compared with the
// lock. It must be closed.
type ProviderArchive struct {
	// Hashes are its own, sorted: the h1 of its content, and its zh if the lock has that.
	// Without the zh the archive was packed here, and depends only on its content.
	Hashes []hashing.Hash
	// Size is its size in bytes.
	Size int64

	io.WriterTo
	io.Closer
}

// Archive gets the archive: from the provider's source, unless the lock has no zh hashes and
// the content is in the cache. The source proves it, as in an installation.
func (p LockedProvider) Archive(ctx context.Context) (*ProviderArchive, error) {
	got, err := p.archive(ctx)
	if err != nil {
		return nil, err
	}
	return &ProviderArchive{Hashes: got.Hashes, Size: got.Size, WriterTo: got, Closer: got}, nil
}

// LockedProviders calls use for each provider in the locks of some root modules, and for
// each platform of req.Providers: this machine's own if it names none. It is for programs
// that take packages somewhere else. It reads the locks alone, and the configuration is not
// looked at; what policies say of providers applies. A provider of which the lock has no
// hash fails.
//
// use is called from several goroutines, for at most [Installer].Parallel packages at once.
// An error ends the work on its project. A project that fails leaves the others alone; the
// error joins a *[ProjectError] for each one that did. onEvent is as for InstallAll.
func (in *Installer) LockedProviders(ctx context.Context, dirs []string, req Request, onEvent func(dir string, event Event), use func(context.Context, LockedProvider) error) error {
	req.Locked, req.DryRun, req.LockOnly, req.Update = true, true, false, Update{}
	if req.Providers == nil {
		req.Providers = &Providers{}
	}
	return in.forEachProject(dirs, req, onEvent, func(_ int, req Request, shared *session, events *events) error {
		return in.lockedProvidersOf(ctx, req, shared, events, use)
	})
}

// lockedProvidersOf is LockedProviders for one project, as part of a session.
func (in *Installer) lockedProvidersOf(ctx context.Context, req Request, shared *session, events *events, use func(context.Context, LockedProvider) error) (err error) {
	p, err := viewWith(ctx, req, shared.key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.readRules(); err != nil {
		return err
	}
	stage, err := quietProviderStage(p, shared, events)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(in.parallel())
	for _, entry := range stage.lock.Providers() {
		locked, err := stage.stage.OfEntry(entry)
		if err != nil {
			group.Go(func() error { return err })
			break
		}
		for _, platform := range req.Providers.platforms() {
			group.Go(func() error {
				return use(ctx, LockedProvider{Project: req.Dir, Entry: entry, Platform: platform, archive: func(ctx context.Context) (*providers.Archive, error) {
					return stage.stage.Archive(ctx, locked, platform)
				}})
			})
		}
	}
	return group.Wait()
}

// ReadLockedProviders returns the providers in the lock of a request's project, which is the
// one that stock tools read. The error is as for [ReadLock].
func ReadLockedProviders(req Request) ([]lockfile.Provider, error) {
	if !req.hasStockLock() {
		req.LockFile = ""
	}
	lock, err := ReadLock(req)
	if err != nil {
		return nil, err
	}
	if faults := lock.ProviderFaults(); faults.HasErrors() {
		return nil, &LockFileError{File: req.lockFile(), Diagnostics: faults}
	}
	return lock.Providers(), nil
}

// platforms are those that are named, or else this machine's own.
func (p *Providers) platforms() []addrs.Platform {
	if len(p.Platforms) == 0 {
		return []addrs.Platform{addrs.CurrentPlatform()}
	}
	return p.Platforms
}

// checkLock returns an error if the lock does not have all providers that the modules
// require. The stage may be nil.
func (s *providerStage) checkLock(ctx context.Context) error {
	if s == nil {
		return nil
	}
	required, err := s.required.pool()
	if err != nil {
		return err
	}
	return s.stage.CheckLock(ctx, required)
}
