package cotter

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
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
	// Without the zh the archive was packed here, and depends on nothing but its content.
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
	stage, err := newProviderStage(ctx, p, shared, events)
	if err != nil {
		return err
	}
	defer stage.close()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(in.parallel())
	for _, entry := range stage.lock.Providers() {
		locked, err := stage.lockedProvider(entry)
		if err != nil {
			group.Go(func() error { return err })
			break
		}
		for _, platform := range req.Providers.platforms() {
			group.Go(func() error {
				return use(ctx, LockedProvider{Project: req.Dir, Entry: entry, Platform: platform, archive: func(ctx context.Context) (*providers.Archive, error) {
					got, err := stage.getter.Archive(ctx, locked.wanted(platform))
					if err != nil {
						return nil, stage.failArchive(ctx, locked, platform, err)
					}
					return got, nil
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

// lockedProvider is the provider that an entry of the lock decides.
func (s *providerStage) lockedProvider(entry lockfile.Provider) (selectedProvider, error) {
	p := requiredProvider{address: entry.Address}
	if err := p.checkPolicy(s.rules); err != nil {
		return selectedProvider{}, err
	}
	version, err := versions.Parse(entry.Version)
	if err != nil {
		return selectedProvider{}, p.fail(entry.Version, err)
	}
	if !proves(entry.Hashes) {
		return selectedProvider{}, s.refuse(p.unprovenReason())
	}
	return selectedProvider{p, version, entry}, nil
}

func (s *providerStage) refuse(reason LockedReason) error {
	return &LockedError{LockFile: s.lock.req.lockFile(), Reasons: []LockedReason{reason}}
}

// failArchive is err as that of the archive of a provider for a platform.
func (s *providerStage) failArchive(ctx context.Context, p selectedProvider, platform addrs.Platform, err error) error {
	mismatch, isMismatch := errors.AsType[*getproviders.MismatchError](err)
	switch {
	case isMismatch && mismatch.Locked && platform != addrs.CurrentPlatform() && !hasScheme(p.entry.Hashes, "zh"):
		return s.refuse(p.platformReason(platform))
	case errors.Is(err, providers.ErrNotAtHand):
		return p.fail(p.version.String(), fmt.Errorf("its archive has to be downloaded: %w", ErrOffline))
	}
	return s.fail(ctx, p, platform, fmt.Errorf("for %s: %w", platform, err))
}

// checkLock returns an error if the lock does not have all providers that the modules
// require.
func (s *providerStage) checkLock(ctx context.Context) error {
	if s == nil {
		return nil
	}
	required, err := s.required.pool()
	if err != nil {
		return err
	}
	_, refused, err := s.selector.selectAll(ctx, required)
	return errors.Join(refused.err(s.lock.req.lockFile()), err)
}
