package pkgcache

import (
	"context"
	"errors"
	"time"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pkgtree"
)

// SharedFetch is a fetch that the processes of one user share. All fields except Revision and
// Want must be set.
type SharedFetch struct {
	// Key is the name of the fetch's result, for all processes.
	Key string
	// Revision is the commit or digest to fetch. Want is the t1 hash that the package
	// should have. Both are empty if unknown.
	Revision string
	Want     hashing.Hash
	// Began is when the run began. Answers that were given later are current.
	Began time.Time
	// Fetch fetches the package and publishes its tree in the cache.
	Fetch func(context.Context) (*Fetched, error)
	// CurrentRevision asks the origin which revision the address means now. It returns "" if the
	// address has no revisions. last is the revision that it meant before.
	CurrentRevision func(ctx context.Context, last string) (string, error)
	// PinnedKey returns the key of a revision, which does not depend on the ref by which it was
	// found.
	PinnedKey func(revision string) string
	// Slot waits for a free slot. The caller must call release to free it again.
	Slot func(context.Context) (release func(), err error)
	// OnWait is called if this process waits for another one for a long time.
	OnWait func()
}

// Fetched is a package that this or another process has fetched into the cache.
type Fetched struct {
	Answer Answer
	Tree   *pkgtree.Tree
	// PinnedKey is the key by which the same revision can be found again. It is "" if the package
	// has no such key.
	PinnedKey string
	// Bytes is the number of bytes that this process has downloaded for the package.
	Bytes int64
}

// FetchShared fetches a package unless another process has just fetched it or is fetching it.
// Processes that need the same package wait for the first one, and use its answer if their own
// fetch would have the same result.
func (c *Cache) FetchShared(ctx context.Context, s SharedFetch) (*Fetched, error) {
	var seen Answer
	for {
		turn, err := c.Fetch(ctx, s.Key, s.OnWait)
		if ctx.Err() != nil && err != nil {
			return nil, err
		}
		if err != nil {
			return s.Fetch(ctx) // without the lock, several processes may fetch the same
		}
		last := turn.Last()
		if last.Done.Equal(seen.Done) && last.Failed.Equal(seen.Failed) {
			got, err := c.fetchInTurn(ctx, s, turn)
			return got, errors.Join(err, turn.Release())
		}
		// Other processes need not wait while this one examines an answer.
		if err := turn.Release(); err != nil {
			return nil, err
		}
		got, err := c.useAnswer(ctx, s, last)
		if got != nil || err != nil {
			return got, err
		}
		if last.Failed.After(s.Began) {
			// The fetch of another process failed while this one was waiting. Waiting processes
			// should not all try and fail one after another.
			return s.Fetch(ctx)
		}
		seen = last
	}
}

// fetchInTurn fetches a package and records the answer for waiting processes. If the answer
// cannot be recorded, they fetch the package themselves.
func (c *Cache) fetchInTurn(ctx context.Context, s SharedFetch, turn *Fetch) (*Fetched, error) {
	got, err := s.Fetch(ctx)
	if err != nil {
		if ctx.Err() == nil {
			last := turn.Last()
			last.Failed = time.Now()
			_ = turn.Record(last)
		}
		return nil, err
	}
	if got.PinnedKey != "" && got.PinnedKey != s.Key {
		if pinned, err := c.TryFetch(got.PinnedKey); pinned != nil && err == nil {
			_ = errors.Join(pinned.Record(got.Answer), pinned.Release())
		}
	}
	_ = turn.Record(got.Answer)
	return got, nil
}

// useAnswer returns the package of an answer if a fetch would have the same result. Otherwise it
// returns nil.
func (c *Cache) useAnswer(ctx context.Context, s SharedFetch, last Answer) (*Fetched, error) {
	if s.Want != "" && last.Tree != s.Want {
		return nil, nil // only a fetch shows whether the origin differs from the lock
	}
	if last.Tree != "" && (last.Tree == s.Want || s.isCurrent(last)) {
		return c.readAnswer(ctx, s, last)
	}
	if s.Revision != "" || last.Revision == "" {
		return nil, nil
	}
	revision, err := s.CurrentRevision(ctx, last.Revision)
	if err != nil || revision == "" {
		return nil, ctx.Err() // the error of the fetch will describe the problem
	}
	if revision != last.Revision {
		if last = c.lastAnswer(s.PinnedKey(revision)); last.Tree == "" {
			return nil, nil
		}
	}
	return c.readAnswer(ctx, s, last)
}

// isCurrent reports whether an answer is for content that never changes, or was given after the
// run began. An archive has no revision to compare, so for archives it is enough that the
// transfer ended after the run began.
func (s SharedFetch) isCurrent(last Answer) bool {
	given := last.Asked
	if last.Revision == "" {
		given = last.Done
	}
	return s.Revision != "" && s.Revision == last.Revision || given.After(s.Began) && !given.After(time.Now())
}

// lastAnswer returns the answer recorded for a key. It returns the zero Answer if
// another process is fetching.
func (c *Cache) lastAnswer(key string) Answer {
	turn, err := c.TryFetch(key)
	if turn == nil || err != nil {
		return Answer{}
	}
	last := turn.Last()
	if turn.Release() != nil {
		return Answer{}
	}
	return last
}

// readAnswer returns the package of an answer. It returns nil if the cache no longer has the
// package or the package is damaged.
func (c *Cache) readAnswer(ctx context.Context, s SharedFetch, answer Answer) (*Fetched, error) {
	done, err := s.Slot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	tree, err := c.Read(answer.Tree)
	if err != nil {
		return nil, nil //nolint:nilerr // a fetch repairs the damage
	}
	return &Fetched{Answer: answer, Tree: pkgtree.New(tree)}, nil
}
