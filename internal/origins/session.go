package origins

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Registry is a copy of the root package's Registry interface.
type Registry interface {
	ModuleVersions(ctx context.Context, pkg addrs.ModuleRegistryPackage) ([]versions.Candidate, error)
	PackageLocation(ctx context.Context, pkg addrs.ModuleRegistryPackage, v versions.Version) (registryclient.Location, error)
	Download(ctx context.Context, pkg addrs.ModuleRegistryPackage, at registryclient.Location, w io.Writer) error
}

// Fetcher is a copy of the root package's Fetcher interface.
type Fetcher interface {
	Fetch(ctx context.Context, req getmodules.Request) (*getmodules.Package, error)
	Reference(ctx context.Context, req getmodules.Request) (getmodules.Reference, error)
	Tags(ctx context.Context, req getmodules.Request) ([]getmodules.Tag, error)
	OCIRepository(req getmodules.Request) (getmodules.OCIRepository, error)
	Reachable(ctx context.Context, req getmodules.Request, commits ...getmodules.LockedCommit) (map[string]getmodules.Reach, error)
	ExtractArchive(ctx context.Context, file *os.File, kind, dir string) (*getmodules.Package, error)
	Interactive() bool
}

// Session is what the runs of one process share: clients, the cache, and the answers of origins.
// The exported fields must be set before use and must not change afterwards.
type Session struct {
	Registry Registry
	Fetcher  Fetcher
	Cache    *store.Modules
	// CacheErr is the reason why the user's cache could not be used. If it is set, Cache is a
	// temporary cache.
	CacheErr error
	// Began is the time at which the session began.
	Began time.Time
	// Slots limits the packages that are worked on at once, and Requests the small requests, such
	// as those for versions, locations and refs. So these need not wait for transfers of packages.
	// Transfers limits the fetches whose requests have been sent, or that wait for work on their
	// packages. A goroutine that holds one of the Slots or Requests never waits for another place.
	Slots, Requests, Transfers chan struct{}

	listings   answers[addrs.ModuleRegistryPackage, []versions.Candidate]
	locations  answers[release, registryclient.Location]
	tags       answers[repository, []getmodules.Tag]
	ociTags    answers[repository, []versions.Candidate]
	references answers[reference, getmodules.Reference]
	histories  answers[inHistory, getmodules.Reach]
	packages   answers[fetchKey, *Fetched]
	// artifacts holds the first artifact that was fetched from each OCI repository, keyed by the
	// repository's address.
	artifacts answers[addrs.ModulePackage, artifact]
}

// answers are the answers of origins to one kind of question, with one answer for each key. Runs share
// an answer only if their policies deny the same URLs, because its requests may have been redirected.
type answers[K comparable, V any] struct {
	memo singleflight.Memo[httpx.Shared[K], V]
}

// do returns the answer for a key, and asks for it if there is none. The policies of the run apply to
// all requests that ask sends.
func (a *answers[K, V]) do(ctx context.Context, o *Origins, key K, ask func(context.Context) (V, error)) (V, error) {
	ctx = o.Rules.ForModules(ctx)
	return a.memo.Do(ctx, httpx.Share(ctx, key), ask)
}

// wait waits until cancelled questions have ended.
func (a *answers[K, V]) wait() { a.memo.Wait() }

// Slot waits for a free slot for work on a package. The caller must call release to free it again.
func (s *Session) Slot(ctx context.Context) (release func(), err error) { return wait(ctx, s.Slots) }

// RequestSlot waits for a free slot for a small request. The caller must call release to free it
// again.
func (s *Session) RequestSlot(ctx context.Context) (release func(), err error) {
	return wait(ctx, s.Requests)
}

func wait(ctx context.Context, slots chan struct{}) (release func(), err error) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// workSlot is a slot for work on a package that a fetch takes when the work begins. It is not safe
// for concurrent use.
type workSlot struct {
	session *Session
	release func() // nil until the slot is taken
}

// take waits for the slot. Taking it again is a no-op.
func (w *workSlot) take(ctx context.Context) (err error) {
	if w.release == nil {
		w.release, err = w.session.Slot(ctx)
	}
	return err
}

// free releases the slot if it was taken.
func (w *workSlot) free() {
	if w.release != nil {
		w.release()
	}
}

// queryFor waits for a free slot for a question about the refs of a repository. Over ssh, each
// question is a connection and a process, of which servers and users accept few at once.
func (s *Session) queryFor(ctx context.Context, pkg addrs.ModulePackage) (release func(), err error) {
	if u, err := pkg.URL(); err != nil || u.Scheme != "https" && u.Scheme != "oci" {
		return s.Slot(ctx)
	}
	return s.RequestSlot(ctx)
}

// Wait waits until cancelled fetches and git queries have ended.
func (s *Session) Wait() {
	s.tags.wait()
	s.references.wait()
	s.histories.wait()
	s.packages.wait()
}

// withCache adds to a request what the fetcher needs to know about the cache.
func (s *Session) withCache(req getmodules.Request) getmodules.Request {
	req.Scratch, req.NoCache = s.Cache.StageDir(), s.CacheErr != nil
	return req
}

// Event is a progress report of a fetch, or a warning.
type Event struct {
	Kind EventKind
	// Package is the package's address without credentials. Done and Total are bytes transferred;
	// Total is 0 if it is not known.
	Package     string
	Done, Total int64
	// Store is the name of the store that delivered the package, or "" if its origin did.
	Store string
	// Path is the module that a warning is about, and Text is the warning.
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
	// WaitingForFetch says that another process is fetching the package and that it takes long.
	WaitingForFetch
	Warning
)
