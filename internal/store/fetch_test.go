package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/store"
)

type origin struct {
	cache    *store.Modules
	revision string
	err      error
	fetched  int
}

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
			tree, err := o.cache.Read(t.Context(), t1)
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
			must(t, err)
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

func fetch(t *testing.T, s *store.Modules, key string) *store.Fetch {
	t.Helper()
	c, err := s.Fetch(t.Context(), key, func() {})
	must(t, err)
	return c
}

func TestFetchKeepsAnswer(t *testing.T) {
	t.Parallel()
	s := openModules(t, t.TempDir())
	want := store.Answer{Tree: "t1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", Package: "p", Gitlinks: []string{"sub"}, Asked: time.Unix(1, 0).UTC(), Done: time.Unix(2, 0).UTC()}
	first := fetch(t, s, "secret@key")
	if diff := cmp.Diff(store.Answer{}, first.Last()); diff != "" {
		t.Errorf("Last of a new key (-want +got):\n%s", diff)
	}
	must(t, errors.Join(first.Record(want), first.Release()))
	second := fetch(t, s, "secret@key")
	if diff := cmp.Diff(want, second.Last()); diff != "" {
		t.Errorf("Last (-want +got):\n%s", diff)
	}
	other := fetch(t, s, "another key") // does not wait for the first
	if other.Last().Tree != "" {
		t.Error("two keys share an answer")
	}
	must(t, errors.Join(second.Release(), other.Release()))
	must(t, s.Forget(time.Now().Add(time.Minute)))
	if again := fetch(t, s, "secret@key"); again.Last().Tree != "" {
		t.Error("a forgotten answer is still there")
	}
}

// If something other than an answer has the name of an answer, it is not used.
func TestDamagedAnswer(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"empty": "", "cut": `{"Tree":"t1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="`, "other": `[1]`, "not sealed": `{"Tree":"t1:x"}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openModules(t, t.TempDir())
			c := fetch(t, s, "key")
			must(t, c.Record(store.Answer{Tree: "t1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}))
			files, err := filepath.Glob(filepath.Join(s.Dir(), "fetch", "*.json"))
			if err != nil || len(files) != 1 {
				t.Fatalf("the answers are in %q, %v", files, err)
			}
			must(t, os.WriteFile(files[0], []byte(text), 0o600))
			if diff := cmp.Diff(store.Answer{}, c.Last()); diff != "" {
				t.Errorf("Last (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFetchWaits(t *testing.T) {
	t.Parallel()
	s := openModules(t, t.TempDir())
	held := fetch(t, s, "key")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start, notices := time.Now(), 0
		_, err := s.Fetch(ctx, "key", func() {
			notices++
			if waited := time.Since(start); waited < 5*time.Second || waited > 6*time.Second {
				t.Errorf("told after %v", waited)
			}
		})
		if !errors.Is(err, context.DeadlineExceeded) || notices != 1 {
			t.Errorf("Fetch = %v after %d notices, want the context's error after one", err, notices)
		}
	})
	must(t, held.Release())
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, other := openModules(t, dir), openModules(t, dir)
	t1 := publishModule(t, s, "x")
	if tree, err := s.Read(t.Context(), t1); err != nil || tree.T1() != t1 {
		t.Errorf("Read = %v, %v", tree, err)
	}
	must(t, os.WriteFile(filepath.Join(s.TreePath(t1), "more.tf"), []byte("y"), 0o600))
	if _, err := s.Read(t.Context(), t1); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("Read = %v, want ErrDamaged", err)
	}
	if _, err := s.Read(t.Context(), t1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read again = %v, want fs.ErrNotExist", err)
	}
	if size, err := s.QuarantineSize(); err != nil || size != int64(len("x")+len("y")) {
		t.Errorf("the quarantine has %d bytes, %v", size, err)
	}
	publishModule(t, other, "x")
	must(t, other.Close())
	if !s.Has(t1) {
		t.Error("the package that another process has published again is not there")
	}
	if removed, err := openModules(t, dir).Remove(store.FileName(t1)); removed || err != nil {
		t.Errorf("Remove of a package that is in use again = %v, %v", removed, err)
	}
}
