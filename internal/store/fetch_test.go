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

	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/text/textform"
)

func lock(t *testing.T, s *store.Modules, key string) (release func()) {
	t.Helper()
	unlock, err := s.LockFetch(t.Context(), key, func() {})
	must(t, err)
	return func() { must(t, unlock()) }
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	s := openModules(t, t.TempDir())
	want := store.Answer{Tree: "t1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", Package: "p", Gitlinks: []textform.Path{"sub", "s\xff"},
		LeftOut: []treewriter.Link{{Path: "a\xe9", Target: "\xff", Reason: "points to nothing"}, {Path: `a\xe9`, Target: "/x"}},
		Asked:   time.Unix(1, 0).UTC(), Done: time.Unix(2, 0).UTC()}
	if diff := cmp.Diff(store.Answer{}, s.Answer("secret@key")); diff != "" {
		t.Errorf("Answer for a new key (-want +got):\n%s", diff)
	}
	must(t, s.RecordAnswer("secret@key", want))
	if diff := cmp.Diff(want, s.Answer("secret@key")); diff != "" {
		t.Errorf("Answer (-want +got):\n%s", diff)
	}
	if s.Answer("another key").Tree != "" {
		t.Error("two keys share an answer")
	}
	must(t, s.Forget(time.Now().Add(time.Minute)))
	if s.Answer("secret@key").Tree != "" {
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
			must(t, s.RecordAnswer("key", store.Answer{Tree: "t1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}))
			files, err := filepath.Glob(filepath.Join(s.Dir(), "fetch", "*.json"))
			if err != nil || len(files) != 1 {
				t.Fatalf("the answers are in %q, %v", files, err)
			}
			must(t, os.WriteFile(files[0], []byte(text), 0o600))
			if diff := cmp.Diff(store.Answer{}, s.Answer("key")); diff != "" {
				t.Errorf("Answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLockFetch(t *testing.T) {
	t.Parallel()
	s := openModules(t, t.TempDir())
	release := lock(t, s, "key")
	lock(t, s, "another key")() // does not wait for the first
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start, notices := time.Now(), 0
		_, err := s.LockFetch(ctx, "key", func() {
			notices++
			if waited := time.Since(start); waited < 5*time.Second || waited > 6*time.Second {
				t.Errorf("told after %v", waited)
			}
		})
		if !errors.Is(err, context.DeadlineExceeded) || notices != 1 {
			t.Errorf("LockFetch = %v after %d notices, want the context's error after one", err, notices)
		}
	})
	release()
	lock(t, s, "key")()
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
