package cotter

import (
	"context"
	"errors"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/pkgcache"
)

// fetchOnce fetches a package unless another process that shares the cache has
// just done that, or is doing it: then its answer counts.
func (r *run) fetchOnce(ctx context.Context, n *node, key fetchKey, at location) (*fetched, error) {
	if err := r.online(); err != nil {
		return nil, err
	}
	if !r.shares(key) {
		got, _, err := r.fetchStaged(ctx, n, key, at)
		return got, err
	}
	onWait := func() { r.events.emit(WaitingForFetch{Package: key.pkg.Redacted()}) }
	var seen pkgcache.Answer
	for {
		claim, err := r.cache.Fetch(ctx, key.shared(at), onWait)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			// A cache that cannot keep other processes away is no reason not to
			// fetch.
			got, _, err := r.fetchStaged(ctx, n, key, at)
			return got, err
		}
		last := claim.Last()
		if last.Done.Equal(seen.Done) && last.Failed.Equal(seen.Failed) {
			got, err := r.fetchClaimed(ctx, n, key, at, claim)
			return got, errors.Join(err, claim.Release())
		}
		// Whoever waits need not wait while this run looks at an answer.
		if err := claim.Release(); err != nil {
			return nil, err
		}
		got, err := r.takeAnswer(ctx, n, key, at, last)
		if got != nil || err != nil {
			return got, err
		}
		if last.Failed.After(r.began) {
			// It failed for another process while this one was waiting. Those
			// who wait shall not fail one after another.
			got, _, err := r.fetchStaged(ctx, n, key, at)
			return got, err
		}
		seen = last
	}
}

// shares reports whether other processes may fetch the same. They do not wait
// for one whose user is asked for a password, and what was fetched by way of
// places that a policy might refuse is no good where there is one.
func (r *run) shares(key fetchKey) bool {
	fetcher, ours := r.fetcher.(*getmodules.Fetcher)
	if getter := key.pkg.Getter(); r.rules.restrictPlaces() && (r.req.Submodules || getter == "http" || getter == "https") {
		return false
	}
	return key.pkg.Getter() != "file" && !(ours && fetcher.Git.Interactive)
}

func (r *run) fetchClaimed(ctx context.Context, n *node, key fetchKey, at location, claim *pkgcache.Fetch) (*fetched, error) {
	got, answer, err := r.fetchStaged(ctx, n, key, at)
	if err != nil {
		if ctx.Err() == nil {
			last := claim.Last()
			last.Failed = time.Now()
			_ = claim.Record(last) // at worst the others fetch as well
		}
		return nil, err
	}
	if answer.pinned != "" && answer.pinned != key.shared(at) {
		r.recordPinned(answer)
	}
	_ = claim.Record(answer.Answer) // at worst the others fetch as well
	return got, nil
}

// recordPinned keeps an answer under the address that never leads elsewhere. It
// does what it can: others may be about to do the same.
func (r *run) recordPinned(a sharedAnswer) {
	if claim, err := r.cache.TryFetch(a.pinned); claim != nil && err == nil {
		_ = errors.Join(claim.Record(a.Answer), claim.Release())
	}
}

// takeAnswer takes what another process fetched, if a fetch by this one would
// bring the same; else it returns nil.
func (r *run) takeAnswer(ctx context.Context, n *node, key fetchKey, at location, last pkgcache.Answer) (*fetched, error) {
	if key.want != "" && last.Tree != key.want {
		return nil, nil // whether it is the origin that differs from the lock, only a fetch can say
	}
	if last.Tree != "" && (last.Tree == key.want || r.isCurrent(key, last)) {
		return r.taken(ctx, n, last)
	}
	if key.revision != "" || last.Revision == "" {
		return nil, nil
	}
	reference, err := r.referenceOf(ctx, key, at, last.Revision)
	if err != nil || reference.Revision == "" {
		return nil, ctx.Err() // the fetch will say what is wrong
	}
	if reference.Revision != last.Revision {
		if last = r.pinnedAnswer(key.pinned(reference.Revision)); last.Tree == "" {
			return nil, nil
		}
	}
	return r.taken(ctx, n, last)
}

// isCurrent reports whether an answer is as good as one to this run: it is for
// what never changes, or was given after the run began. For archives, which
// nothing short of a transfer tells apart, it is enough that the transfer ended
// after that.
func (r *run) isCurrent(key fetchKey, last pkgcache.Answer) bool {
	given := last.Asked
	if last.Revision == "" {
		given = last.Done
	}
	return key.revision != "" && key.revision == last.Revision || given.After(r.began) && !given.After(time.Now())
}

func (r *run) pinnedAnswer(pinned string) pkgcache.Answer {
	claim, err := r.cache.TryFetch(pinned)
	if claim == nil || err != nil {
		return pkgcache.Answer{}
	}
	last := claim.Last()
	if claim.Release() != nil {
		return pkgcache.Answer{}
	}
	return last
}

// taken is the package of an answer; nil where the cache no longer has it, or
// has it damaged.
func (r *run) taken(ctx context.Context, n *node, a pkgcache.Answer) (*fetched, error) {
	done, err := r.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	tree, err := r.cache.Read(a.Tree)
	if err != nil {
		return nil, nil //nolint:nilerr // whatever it is, a fetch makes it good
	}
	for _, warning := range a.Warnings {
		r.warn(n.path, warning)
	}
	pkg := getmodules.Package{Resolved: addrs.ParseModulePackage(a.Package), ArchiveSum: string(a.Archive), Gitlinks: a.Gitlinks, LeftOut: answeredLinks(a.LeftOut)}
	return newFetched(newPackageTree(tree), &pkg), nil
}

// referenceOf asks where an address leads now; last is where it led before, which
// an abbreviated commit does not ask the origin for again.
func (r *run) referenceOf(ctx context.Context, key fetchKey, at location, last string) (getmodules.Reference, error) {
	if key.hosted {
		return getmodules.Reference{}, nil
	}
	done, err := r.slot(ctx)
	if err != nil {
		return getmodules.Reference{}, err
	}
	defer done()
	req := key.request(at)
	req.Revision = last
	return r.fetcher.Reference(ctx, r.prepared(req))
}
