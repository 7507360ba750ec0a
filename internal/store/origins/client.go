package origins

import (
	"context"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Client is what the runs of one process share. The exported fields must not change once it is in use.
type Client struct {
	Registry registryclient.ModuleRegistry
	Fetcher  getmodules.Source
	Cache    *store.Modules
	// CacheErr is why the user's cache could not be used. Cache is then a temporary one.
	CacheErr error
	Began    time.Time
	// Slots limits the packages that are worked on at once, and Requests the small requests (versions,
	// locations, refs), which need not wait for transfers. Transfers limits fetches whose requests have
	// been sent, or that wait for work. A goroutine that holds a place in Slots or Requests never waits for
	// another.
	Slots, Requests, Transfers chan struct{}

	listings   answers[listing, []versions.Candidate]
	locations  answers[release, registryclient.Location]
	tags       answers[named, []getmodules.Tag]
	ociTags    answers[named, []versions.Candidate]
	references answers[reference, getmodules.Reference]
	histories  answers[inHistory, getmodules.Reach]
	packages   answers[fetchKey, *Fetched]
	// artifacts has the first one that was fetched from each OCI repository.
	artifacts answers[addrs.ModulePackage, artifact]
}

// answers has one answer for each key. Runs share it only if their policies allow the same locations,
// because requests may have been redirected, or replaced by the user's git configuration.
type answers[K comparable, V any] struct {
	memo singleflight.Memo[answerKey[K], V]
}

type answerKey[K comparable] struct {
	key    httpx.Shared[K]
	places string
}

// do asks if there is no answer. The policies of the run apply to all requests that ask sends.
func (a *answers[K, V]) do(ctx context.Context, o *Origins, key K, ask func(context.Context) (V, error)) (V, error) {
	ctx = o.Rules.ForModules(ctx)
	return a.memo.Do(ctx, answerKey[K]{httpx.Share(ctx, key), o.Rules.Locations()}, ask)
}

// Slot waits for a free slot for work on a package, until release is called.
func (c *Client) Slot(ctx context.Context) (release func(), err error) { return wait(ctx, c.Slots) }

// RequestSlot waits for a free slot for a small request, until release is called.
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

// queryFor waits for a free slot for a question about a repository's refs, or to a registry if pkg is zero.
// Over ssh, each is a connection and a process, of which servers and users accept few at once.
func (c *Client) queryFor(ctx context.Context, pkg addrs.ModulePackage) (release func(), err error) {
	if at, err := pkg.Location(); !pkg.IsZero() && (err != nil || at.URL().Scheme != "https" && at.URL().Scheme != "oci") {
		return c.Slot(ctx)
	}
	return c.RequestSlot(ctx)
}
