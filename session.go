package cotter

import (
	"context"
	"os"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// session is what the runs share that one call of Install or InstallAll
// starts: where they ask, and what was answered. Each listing, location and
// package is asked for once, whichever projects want it.
type session struct {
	registry Registry
	fetcher  Fetcher
	store    store.Store
	began    time.Time

	confirmed confirmed

	// slots bounds what is done at once; holding one, a goroutine waits for
	// nobody else.
	slots     chan struct{}
	tags      memo[repositoryKey, []getmodules.Tag]
	ociTags   memo[repositoryKey, []versions.Candidate]
	listings  memo[addrs.ModuleRegistryPackage, []versions.Candidate]
	locations memo[release, registryclient.Location]
	packages  memo[fetchKey, *fetched]
	// references are where addresses lead.
	references memo[originKey, getmodules.Reference]
}

// release is one version of a registry's package.
type release struct {
	pkg     addrs.ModuleRegistryPackage
	version versions.Version
}

// newSession starts a session whose packages are kept below cacheDir.
func (in *Installer) newSession(cacheDir string) *session {
	return &session{
		registry: in.registry(),
		fetcher:  in.fetcher(cacheDir),
		store:    store.Store{Dir: cacheDir},
		began:    time.Now(),
		slots:    make(chan struct{}, in.parallel()),
	}
}

// sharedSession starts a session that belongs to no project. Without a cache,
// packages are kept until done is called.
func (in *Installer) sharedSession() (_ *session, done func(), err error) {
	dir, done := in.CacheDir, func() {}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "cotter-"); err != nil {
			return nil, nil, err
		}
		done = func() { _ = os.RemoveAll(dir) } // what is left, the system sweeps away
	}
	s := in.newSession(dir)
	s.store.Sweep()
	return s, done, nil
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
