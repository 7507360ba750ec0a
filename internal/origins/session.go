package origins

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Registry is the root package's Registry.
type Registry interface {
	ModuleVersions(ctx context.Context, pkg addrs.ModuleRegistryPackage) ([]versions.Candidate, error)
	PackageLocation(ctx context.Context, pkg addrs.ModuleRegistryPackage, v versions.Version) (registryclient.Location, error)
	Download(ctx context.Context, pkg addrs.ModuleRegistryPackage, at registryclient.Location, w io.Writer) error
}

// Fetcher is the root package's Fetcher.
type Fetcher interface {
	Fetch(ctx context.Context, req getmodules.Request) (*getmodules.Package, error)
	Reference(ctx context.Context, req getmodules.Request) (getmodules.Reference, error)
	Tags(ctx context.Context, req getmodules.Request) ([]getmodules.Tag, error)
	OCIRepository(req getmodules.Request) (getmodules.OCIRepository, error)
	ExtractArchive(ctx context.Context, file *os.File, kind, dir string) (*getmodules.Package, error)
	Interactive() bool
}

// Session is what the runs of one process share: clients, the cache, and what origins
// have answered. The exported fields must be set and do not change.
type Session struct {
	Registry Registry
	Fetcher  Fetcher
	Cache    *pkgcache.Cache
	// CacheErr is why the user's cache could not be used, if Cache is a temporary one in
	// its place.
	CacheErr error
	// Began is when the session began.
	Began time.Time
	// Slots bounds what is done at once. A goroutine that has a slot waits for no other
	// one.
	Slots chan struct{}

	listings   singleflight.Memo[addrs.ModuleRegistryPackage, []versions.Candidate]
	locations  singleflight.Memo[release, registryclient.Location]
	tags       singleflight.Memo[repository, []getmodules.Tag]
	ociTags    singleflight.Memo[repository, []versions.Candidate]
	references singleflight.Memo[reference, getmodules.Reference]
	packages   singleflight.Memo[fetchKey, *Fetched]
	// artifacts are the first that were fetched from OCI repositories, by the
	// repositories' addresses.
	artifacts singleflight.Memo[addrs.ModulePackage, artifact]
}

// Slot waits until there is room for one more piece of work; the function that it
// returns makes room again.
func (s *Session) Slot(ctx context.Context) (release func(), err error) {
	select {
	case s.Slots <- struct{}{}:
		return func() { <-s.Slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Wait waits for the end of fetches and of questions to git that were cancelled.
func (s *Session) Wait() {
	s.tags.Wait()
	s.references.Wait()
	s.packages.Wait()
}

// withCache adds to a request what the fetcher needs to know of the cache.
func (s *Session) withCache(req getmodules.Request) getmodules.Request {
	req.Scratch, req.NoCache = s.Cache.StageDir(), s.CacheErr != nil
	return req
}

// Event is news of a fetch, or a warning.
type Event struct {
	Kind EventKind
	// Package is the package's address without credentials, Done and Total the bytes that
	// are transferred; Total is 0 if it is not known.
	Package     string
	Done, Total int64
	// Store is the name of the store that had the package; "" for its origin.
	Store string
	// Path is the module that a warning is about, and Text what it says.
	Path addrs.Module
	Text string
}

// EventKind is a kind of event.
type EventKind int

// The kinds of events.
const (
	FetchStarted EventKind = iota
	FetchProgress
	FetchDone
	// WaitingForFetch says that another process fetches the package, and takes long.
	WaitingForFetch
	Warning
)
