package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/store"
)

// publish puts a tree with one file into the store and returns its hash.
func publish(t *testing.T, s store.Store, text string) hashing.Hash {
	t.Helper()
	staged, err := s.Stage()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(staged, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(staged, "main.tf"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	tree, err := hashing.ReadTree(os.DirFS(staged))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(staged, tree.T1()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(staged); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Publish left the stage: %v", err)
	}
	return tree.T1()
}

func TestPublishAndCopy(t *testing.T) {
	t.Parallel()
	s := store.Store{Dir: filepath.Join(t.TempDir(), "cache")}
	t1 := publish(t, s, "# a\n")
	if again := publish(t, s, "# a\n"); again != t1 {
		t.Errorf("the same tree has hashes %s and %s", t1, again)
	}
	if !s.Has(t1) {
		t.Error("Has = false for a published tree")
	}
	dst := filepath.Join(t.TempDir(), "copy")
	tree, err := s.CopyTo(context.Background(), dst, t1)
	if err != nil || tree.T1() != t1 {
		t.Fatalf("CopyTo = %v, %v", tree, err)
	}
	if text, err := os.ReadFile(filepath.Join(dst, "main.tf")); err != nil || string(text) != "# a\n" {
		t.Errorf("the copy holds %q, %v", text, err)
	}
	info, err := os.Stat(s.Dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the cache has mode %v, %v; want 0700", info.Mode(), err)
	}
}

func TestCopyOfNothing(t *testing.T) {
	t.Parallel()
	s := store.Store{Dir: t.TempDir()}
	dst := filepath.Join(t.TempDir(), "copy")
	if _, err := s.CopyTo(context.Background(), dst, "t1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("CopyTo of an absent tree = %v, want fs.ErrNotExist", err)
	}
}

// Whatever happens to a cached tree, a copy of it is either right or refused.
func TestDamage(t *testing.T) {
	t.Parallel()
	damages := map[string]func(dir string) error{
		"changed": func(dir string) error { return os.WriteFile(filepath.Join(dir, "main.tf"), []byte("# b\n"), 0o644) },
		"added":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "evil.tf"), nil, 0o644) },
		"removed": func(dir string) error { return os.Remove(filepath.Join(dir, "main.tf")) },
		"mode":    func(dir string) error { return os.Chmod(filepath.Join(dir, "main.tf"), 0o755) },
		"link out": func(dir string) error {
			if err := os.Remove(filepath.Join(dir, "main.tf")); err != nil {
				return err
			}
			return os.Symlink("/etc/passwd", filepath.Join(dir, "main.tf"))
		},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := store.Store{Dir: t.TempDir()}
			t1 := publish(t, s, "# a\n")
			if err := damage(filepath.Join(s.Dir, "tree", store.FileName(t1))); err != nil {
				t.Fatal(err)
			}
			dst := filepath.Join(t.TempDir(), "copy")
			if _, err := s.CopyTo(context.Background(), dst, t1); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("CopyTo = %v, want ErrDamaged", err)
			}
			if _, err := os.Lstat(dst); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("CopyTo left something behind: %v", err)
			}
			if s.Has(t1) {
				t.Error("the damaged tree is still published")
			}
		})
	}
}

func TestPublishSideBySide(t *testing.T) {
	t.Parallel()
	s := store.Store{Dir: t.TempDir()}
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			t1 := publish(t, s, "# a\n")
			if _, err := s.CopyTo(context.Background(), filepath.Join(t.TempDir(), "copy"), t1); err != nil {
				t.Errorf("CopyTo: %v", err)
			}
		})
	}
	wait.Wait()
}

func TestSweep(t *testing.T) {
	t.Parallel()
	s := store.Store{Dir: t.TempDir()}
	var names []string
	for range 2 {
		name, err := s.Stage()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(names[0], old, old); err != nil {
		t.Fatal(err)
	}
	s.Sweep()
	if _, err := os.Lstat(names[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Sweep left a stage of two days ago: %v", err)
	}
	if _, err := os.Lstat(names[1]); err != nil {
		t.Errorf("Sweep removed a fresh stage: %v", err)
	}
}

// A tree is published whatever else has its name.
func TestPublishInThePlaceOfNoTree(t *testing.T) {
	t.Parallel()
	s := store.Store{Dir: t.TempDir()}
	t1 := publish(t, s, "# text\n")
	if err := os.RemoveAll(s.TreePath(t1)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.TreePath(t1), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	publish(t, s, "# text\n")
	if !s.Has(t1) {
		t.Error("Publish did not replace a file with the name of the tree")
	}
}
