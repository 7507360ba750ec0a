package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/filelock"
)

const fetchNotice = 5 * time.Second

// Answer is the result of the last fetch of an address. Its tree must be verified; see [Modules.Read].
type Answer struct {
	// Tree is a t1 hash; "" if no fetch has succeeded.
	Tree hashing.Hash
	// Package is the immutable address, and Revision the commit or digest in it, without credentials.
	Package, Revision string
	Archive           hashing.Hash
	Gitlinks          []string
	LeftOut           []LeftOutLink
	Warnings          []string
	// Asked and Done are when the fetch started and ended.
	Asked, Done time.Time
	// Failed is when a later fetch failed.
	Failed time.Time
}

type LeftOutLink struct{ Path, Target, Reason string }

// Fetch is an exclusive lock, among all processes that share the cache, on fetching the package with a key.
// It has the answer of the last fetch, which a process that has waited can use.
type Fetch struct {
	*filelock.Lock
	modules *Modules
	answer  record
}

// Fetch waits for the lock, until ctx is done. It calls onWait once if that takes long. Only a hash of the
// key is on disk.
func (m *Modules) Fetch(ctx context.Context, key string, onWait func()) (*Fetch, error) {
	f := m.fetch(key)
	if err := f.Exclusive(ctx, fetchNotice, onWait); err != nil {
		return nil, fmt.Errorf("waiting for another process that fetches the same package: %w", err)
	}
	return f, nil
}

// answerFormat is part of the names of answers. It changes whenever trees are made differently. Since
// format 2, the attributes of git packages are applied.
const answerFormat = "2 "

func (m *Modules) fetch(key string) *Fetch {
	name := fmt.Sprintf("%x", sha256.Sum256([]byte(answerFormat+key)))
	answer := name + ".json"
	return &Fetch{m.fetchLock(name), m, record{dir: fetchName, name: answer, purpose: "answer to " + answer}}
}

// Last returns the zero Answer if there is none, or it is incomplete or not of this user.
func (f *Fetch) Last() Answer {
	var last Answer
	if f.modules.readRecord(f.answer, &last) != nil {
		return Answer{}
	}
	return last
}

func (f *Fetch) Record(a Answer) error { return f.modules.writeRecord(f.answer, a) }

// SharedFetch is a fetch that the processes of one user share. All fields except Revision and Want must be
// set.
type SharedFetch struct {
	// Key names the result for all processes.
	Key string
	// Revision is the commit or digest to fetch, and Want the expected t1 hash; "" if unknown.
	Revision string
	Want     hashing.Hash
	// Began is when the run began. Later answers are current.
	Began time.Time
	// Fetch also publishes the tree in the cache.
	Fetch func(context.Context) (*Fetched, error)
	// CurrentRevision asks the origin what the address means now; "" for addresses without revisions. last
	// is what it meant before.
	CurrentRevision func(ctx context.Context, last string) (string, error)
	// PinnedKey is the key of a revision, whatever ref it was found by.
	PinnedKey func(revision string) string
	// Slot waits for a free slot, until release is called.
	Slot func(context.Context) (release func(), err error)
	// OnWait is called if this process waits for another one for long.
	OnWait func()
}

type Fetched struct {
	Answer Answer
	Tree   *Tree
	// PinnedKey finds the same revision again; "" if there is none.
	PinnedKey string
	// Bytes were downloaded by this process.
	Bytes int64
}

// FetchShared fetches a package, unless another process has just fetched it or is fetching it. Processes
// wait for the first one, and use its answer if their own fetch would have the same result.
func (m *Modules) FetchShared(ctx context.Context, s SharedFetch) (*Fetched, error) {
	var seen Answer
	for {
		turn, err := m.Fetch(ctx, s.Key, s.OnWait)
		if ctx.Err() != nil && err != nil {
			return nil, err
		}
		if err != nil {
			return s.Fetch(ctx) // without the lock, several processes may fetch the same
		}
		last := turn.Last()
		if last.Done.Equal(seen.Done) && last.Failed.Equal(seen.Failed) {
			got, err := m.fetchInTurn(ctx, s, turn)
			return got, errors.Join(err, turn.Release())
		}
		// Others need not wait while this one examines an answer.
		if err := turn.Release(); err != nil {
			return nil, err
		}
		got, err := m.useAnswer(ctx, s, last)
		if got != nil || err != nil {
			return got, err
		}
		if last.Failed.After(s.Began) {
			// Waiting processes should not all try and fail one after another.
			return s.Fetch(ctx)
		}
		seen = last
	}
}

func (m *Modules) fetchInTurn(ctx context.Context, s SharedFetch, turn *Fetch) (*Fetched, error) {
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
		_ = m.fetch(got.PinnedKey).Record(got.Answer)
	}
	_ = turn.Record(got.Answer)
	return got, nil
}

func (m *Modules) useAnswer(ctx context.Context, s SharedFetch, last Answer) (*Fetched, error) {
	if s.Want != "" && last.Tree != s.Want {
		return nil, nil // only a fetch shows whether the origin differs from the lock
	}
	if last.Tree != "" && (last.Tree == s.Want || s.isCurrent(last)) {
		return m.readAnswer(ctx, s, last)
	}
	if s.Revision != "" || last.Revision == "" {
		return nil, nil
	}
	revision, err := s.CurrentRevision(ctx, last.Revision)
	if err != nil || revision == "" {
		return nil, ctx.Err() // the error of the fetch will describe the problem
	}
	if revision != last.Revision {
		if last = m.fetch(s.PinnedKey(revision)).Last(); last.Tree == "" {
			return nil, nil
		}
	}
	return m.readAnswer(ctx, s, last)
}

// isCurrent reports whether an answer is for content that never changes, or was given after the run began.
// Of an archive, which has no revision, it is enough that the transfer ended after that.
func (s SharedFetch) isCurrent(last Answer) bool {
	given := last.Asked
	if last.Revision == "" {
		given = last.Done
	}
	return s.Revision != "" && s.Revision == last.Revision || given.After(s.Began) && !given.After(time.Now())
}

func (m *Modules) readAnswer(ctx context.Context, s SharedFetch, answer Answer) (*Fetched, error) {
	done, err := s.Slot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	tree, err := m.Read(ctx, answer.Tree)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, nil //nolint:nilerr // a fetch repairs the damage
	}
	return &Fetched{Answer: answer, Tree: tree}, nil
}
