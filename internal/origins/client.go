package origins

import (
	"context"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Client is what the runs of one process share: clients, the cache, and the answers of origins.
// The exported fields must be set before use and must not change afterwards.
type Client struct {
	Registry registryclient.ModuleRegistry
	Fetcher  getmodules.Source
	Cache    *store.Modules
	// CacheErr is the reason why the user's cache could not be used. If it is set, Cache is a
	// temporary cache.
	CacheErr error
	Began    time.Time
	// Slots limits the packages that are worked on at once, and Requests the small requests, such
	// as those for versions, locations and refs. So these need not wait for transfers of packages.
	// Transfers limits the fetches whose requests have been sent, or that wait for work on their
	// packages. A goroutine that holds one of the Slots or Requests never waits for another place.
	Slots, Requests, Transfers chan struct{}

	listings   answers[listing, []versions.Candidate]
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
// an answer only if their policies allow the same locations, because its requests may have been
// redirected, or replaced by the user's git configuration.
type answers[K comparable, V any] struct {
	memo singleflight.Memo[answerKey[K], V]
}

type answerKey[K comparable] struct {
	key    httpx.Shared[K]
	places string
}

// do returns the answer for a key, and asks for it if there is none. The policies of the run apply to
// all requests that ask sends.
func (a *answers[K, V]) do(ctx context.Context, o *Origins, key K, ask func(context.Context) (V, error)) (V, error) {
	ctx = o.Rules.ForModules(ctx)
	return a.memo.Do(ctx, answerKey[K]{httpx.Share(ctx, key), o.Rules.Locations()}, ask)
}

// Slot waits for a free slot for work on a package. The caller must call release to free it again.
func (c *Client) Slot(ctx context.Context) (release func(), err error) { return wait(ctx, c.Slots) }

// RequestSlot waits for a free slot for a small request. The caller must call release to free it
// again.
func (c *Client) RequestSlot(ctx context.Context) (release func(), err error) {
	return wait(ctx, c.Requests)
}

func wait(ctx context.Context, slots chan struct{}) (release func(), err error) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// queryFor waits for a free slot for a question about the refs of a repository, or to a registry if pkg
// is zero. Over ssh, each question is a connection and a process, of which servers and users accept
// few at once.
func (c *Client) queryFor(ctx context.Context, pkg addrs.ModulePackage) (release func(), err error) {
	if at, err := pkg.Location(); !pkg.IsZero() && (err != nil || at.URL().Scheme != "https" && at.URL().Scheme != "oci") {
		return c.Slot(ctx)
	}
	return c.RequestSlot(ctx)
}

// Wait waits until canceled fetches and git queries have ended.
func (c *Client) Wait() {
	c.tags.memo.Wait()
	c.references.memo.Wait()
	c.histories.memo.Wait()
	c.packages.memo.Wait()
}
