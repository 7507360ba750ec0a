package origins

import (
	"context"
	"errors"
	"time"

	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/store"
)

// downloadOrShare downloads a package, unless another process of the user has just fetched it or is
// fetching it. Processes wait for the first one, and use its answer if their own fetch would have the same
// result.
func (o *Origins) downloadOrShare(ctx context.Context, job fetchJob) (*Fetched, error) {
	key := job.sharedKey()
	onWait := func() { o.OnEvent(event.WaitingForFetch{Package: job.pkg.Redacted()}) }
	var seen store.Answer
	for {
		release, err := o.Cache.LockFetch(ctx, key, onWait)
		if ctx.Err() != nil && err != nil {
			return nil, err
		}
		if err != nil {
			return o.download(ctx, job) // without the lock, several processes may fetch the same
		}
		last := o.Cache.Answer(key)
		if last.Done.Equal(seen.Done) && last.Failed.Equal(seen.Failed) {
			got, err := o.downloadLocked(ctx, job, key)
			return got, errors.Join(err, release())
		}
		// Others need not wait while this one examines an answer.
		if err := release(); err != nil {
			return nil, err
		}
		got, err := o.useAnswer(ctx, job, last)
		if got != nil || err != nil {
			return got, err
		}
		if last.Failed.After(o.Began) {
			// Waiting processes should not all try and fail one after another.
			return o.download(ctx, job)
		}
		seen = last
	}
}

func (o *Origins) downloadLocked(ctx context.Context, job fetchJob, key string) (*Fetched, error) {
	got, err := o.download(ctx, job)
	if err != nil {
		if ctx.Err() == nil {
			last := o.Cache.Answer(key)
			last.Failed = time.Now()
			_ = o.Cache.RecordAnswer(key, last)
		}
		return nil, err
	}
	if got.pinnedKey != "" && got.pinnedKey != key {
		_ = o.Cache.RecordAnswer(got.pinnedKey, got.answer)
	}
	_ = o.Cache.RecordAnswer(key, got.answer)
	return got, nil
}

func (o *Origins) useAnswer(ctx context.Context, job fetchJob, last store.Answer) (*Fetched, error) {
	if job.Tree != "" && last.Tree != job.Tree {
		return nil, nil // only a fetch shows whether the origin differs from the lock
	}
	if last.Tree != "" && (last.Tree == job.Tree || o.isCurrent(job, last)) {
		return o.readAnswer(ctx, last)
	}
	if job.Revision != "" || last.Revision == "" {
		return nil, nil
	}
	now, err := o.Reference(ctx, job.from, job.at, last.Revision)
	if err != nil || now.Revision == "" {
		return nil, ctx.Err() // the error of the fetch will describe the problem
	}
	if now.Revision != last.Revision {
		if last = o.Cache.Answer(job.pinnedKey(now.Revision)); last.Tree == "" {
			return nil, nil
		}
	}
	return o.readAnswer(ctx, last)
}

// isCurrent reports whether an answer is for content that never changes, or was given after the run began.
// Of an archive, which has no revision, it is enough that the transfer ended after that.
func (o *Origins) isCurrent(job fetchJob, last store.Answer) bool {
	given := last.Asked
	if last.Revision == "" {
		given = last.Done
	}
	return job.Revision != "" && job.Revision == last.Revision || given.After(o.Began) && !given.After(time.Now())
}

func (o *Origins) readAnswer(ctx context.Context, answer store.Answer) (*Fetched, error) {
	done, err := o.Slot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	tree, err := o.Cache.Read(ctx, answer.Tree)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, nil //nolint:nilerr // a fetch repairs the damage
	}
	return newFetched(answer, tree), nil
}
