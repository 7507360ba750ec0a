package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/store"
)

// origin is a repository with one address, which currently means revision.
type origin struct {
	cache    *store.Modules
	revision string
	err      error
	fetched  int
}

// fetch fetches the current revision of the origin. change modifies the request first.
func (o *origin) fetch(t *testing.T, change func(*store.SharedFetch)) (*store.Fetched, error) {
	t.Helper()
	pinnedKey := func(revision string) string { return "address at " + revision }
	s := store.SharedFetch{
		Key:       "address",
		PinnedKey: pinnedKey,
		Began:     time.Now().Add(time.Hour), // answers from before the run are not current
		Fetch: func(context.Context) (*store.Fetched, error) {
			o.fetched++
			if o.err != nil {
				return nil, o.err
			}
			t1 := publishModule(t, o.cache, o.revision)
			tree, err := o.cache.Read(t1)
			if err != nil {
				return nil, err
			}
			now := time.Now()
			return &store.Fetched{
				Answer:    store.Answer{Tree: t1, Revision: o.revision, Asked: now, Done: now},
				Tree:      tree,
				PinnedKey: pinnedKey(o.revision),
			}, nil
		},
		CurrentRevision: func(context.Context, string) (string, error) { return o.revision, nil },
		Slot:            func(context.Context) (func(), error) { return func() {}, nil },
		OnWait:          func() {},
	}
	if change != nil {
		change(&s)
	}
	return o.cache.FetchShared(t.Context(), s)
}

func TestFetchShared(t *testing.T) {
	t.Parallel()
	missing := hashing.Hash("t1:AAAA")
	tests := map[string]struct {
		moveTo  string
		change  func(*store.SharedFetch)
		fetches int // fetches by the second process
	}{
		"revision is current":    {"one", nil, 0},
		"tag has moved":          {"two", nil, 1},
		"revision is pinned":     {"two", func(s *store.SharedFetch) { s.Key, s.Revision = s.PinnedKey("one"), "one" }, 0},
		"other revision pinned":  {"two", func(s *store.SharedFetch) { s.Key, s.Revision = s.PinnedKey("two"), "two" }, 1},
		"answer after run began": {"two", func(s *store.SharedFetch) { s.Began = time.Now().Add(-time.Hour) }, 0},
		"other hash is wanted":   {"one", func(s *store.SharedFetch) { s.Want = missing }, 1},
		"other address":          {"one", func(s *store.SharedFetch) { s.Key = "other" }, 1},
		"origin is not reachable": {"one", func(s *store.SharedFetch) {
			s.CurrentRevision = func(context.Context, string) (string, error) { return "", errors.New("no route") }
		}, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			o := &origin{cache: openModules(t, dir), revision: "one"}
			if _, err := o.fetch(t, nil); err != nil || o.fetched != 1 {
				t.Fatalf("first fetch: %v, %d fetches", err, o.fetched)
			}
			o.cache, o.revision, o.fetched = openModules(t, dir), test.moveTo, 0 // another process
			got, err := o.fetch(t, test.change)
			if err != nil {
				t.Fatal(err)
			}
			if o.fetched != test.fetches {
				t.Errorf("%d fetches, want %d", o.fetched, test.fetches)
			}
			if got.Tree.T1() != got.Answer.Tree {
				t.Errorf("tree %s of an answer with %s", got.Tree.T1(), got.Answer.Tree)
			}
		})
	}
}

// A failure is recorded, but does not keep later processes from fetching.
func TestFetchSharedAfterFailure(t *testing.T) {
	t.Parallel()
	failure := errors.New("connection reset")
	o := &origin{cache: openModules(t, t.TempDir()), revision: "one", err: failure}
	if _, err := o.fetch(t, nil); !errors.Is(err, failure) {
		t.Fatalf("FetchShared = %v, want %v", err, failure)
	}
	o.err = nil
	if _, err := o.fetch(t, nil); err != nil || o.fetched != 2 {
		t.Errorf("FetchShared = %v after %d fetches, want a second fetch", err, o.fetched)
	}
}
