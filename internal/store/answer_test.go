package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/store"
)

func fetch(t *testing.T, s *store.Modules, key string) *store.Fetch {
	t.Helper()
	c, err := s.Fetch(t.Context(), key, func() {})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFetchKeepsAnswer(t *testing.T) {
	t.Parallel()
	s := openModules(t, t.TempDir())
	want := store.Answer{Tree: "t1:x", Package: "p", Gitlinks: []string{"sub"}, Asked: time.Unix(1, 0).UTC(), Done: time.Unix(2, 0).UTC()}
	first := fetch(t, s, "secret@key")
	if diff := cmp.Diff(store.Answer{}, first.Last()); diff != "" {
		t.Errorf("Last of a new key (-want +got):\n%s", diff)
	}
	if err := errors.Join(first.Record(want), first.Release()); err != nil {
		t.Fatal(err)
	}
	second := fetch(t, s, "secret@key")
	if diff := cmp.Diff(want, second.Last()); diff != "" {
		t.Errorf("Last (-want +got):\n%s", diff)
	}
	other := fetch(t, s, "another key") // does not wait for the first
	if other.Last().Tree != "" {
		t.Error("two keys share an answer")
	}
	if err := errors.Join(second.Release(), other.Release()); err != nil {
		t.Fatal(err)
	}
	if err := s.Forget(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if again := fetch(t, s, "secret@key"); again.Last().Tree != "" {
		t.Error("a forgotten answer is still there")
	}
}

// If something other than an answer has the name of an answer, it is not used.
func TestDamagedAnswer(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"empty": "", "cut": `{"Tree":"t1:x"`, "other": `[1]`, "not sealed": `{"Tree":"t1:x"}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openModules(t, t.TempDir())
			c := fetch(t, s, "key")
			if err := c.Record(store.Answer{Tree: "t1:x"}); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(s.Dir(), "fetch", "*.json"))
			if err != nil || len(files) != 1 {
				t.Fatalf("the answers are in %q, %v", files, err)
			}
			if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(store.Answer{}, c.Last()); diff != "" {
				t.Errorf("Last (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFetchIsExclusive(t *testing.T) {
	t.Parallel()
	s := openModules(t, t.TempDir())
	var wait sync.WaitGroup
	var inside atomic.Int32
	had := make(chan bool, 16)
	for range 16 {
		wait.Go(func() {
			c, err := s.Fetch(t.Context(), "key", func() {})
			if err != nil {
				t.Error(err)
				return
			}
			had <- inside.Add(1) == 1
			inside.Add(-1)
			if err := c.Release(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	close(had)
	for alone := range had {
		if !alone {
			t.Error("two had the right at once")
		}
	}
	first := fetch(t, s, "key")
	if second, err := s.TryFetch("key"); second != nil || err != nil {
		t.Errorf("TryFetch of what is being fetched = %v, %v", second, err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
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
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	s := openModules(t, t.TempDir())
	t1 := publishModule(t, s, "x")
	if tree, err := s.Read(t1); err != nil || tree.T1() != t1 {
		t.Errorf("Read = %v, %v", tree, err)
	}
	if err := os.WriteFile(filepath.Join(s.TreePath(t1), "more.tf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(t1); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("Read = %v, want ErrDamaged", err)
	}
	if _, err := s.Read(t1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read again = %v, want fs.ErrNotExist", err)
	}
}
