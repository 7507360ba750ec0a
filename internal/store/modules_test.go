package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/userkey"
)

func openModules(t *testing.T, dir string) *store.Modules {
	t.Helper()
	key, err := userkey.FromSecret("a secret that has 32 characters..")
	must(t, err)
	c, err := store.OpenModules(dir, key)
	must(t, err)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func publishModule(t *testing.T, s *store.Modules, text string) hashing.Hash {
	t.Helper()
	staged := s.Stage()
	must(t, os.Mkdir(staged, 0o755))
	must(t, os.WriteFile(filepath.Join(staged, "main.tf"), []byte(text), 0o644))
	tree, err := hashing.ReadTree(t.Context(), os.DirFS(staged))
	must(t, err)
	must(t, s.Publish(staged, tree.T1()))
	if _, err := os.Lstat(staged); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Publish left the stage: %v", err)
	}
	return tree.T1()
}

func copyTo(s *store.Modules, dst string, t1 hashing.Hash) (*store.Tree, error) {
	parent, err := os.OpenRoot(filepath.Dir(dst))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return s.CopyTo(context.Background(), parent, filepath.Base(dst), t1, false)
}

func TestPublishAndCopy(t *testing.T) {
	t.Parallel()
	s := openModules(t, filepath.Join(t.TempDir(), "cache"))
	t1 := publishModule(t, s, "# a\n")
	if again := publishModule(t, s, "# a\n"); again != t1 {
		t.Errorf("the same tree has hashes %s and %s", t1, again)
	}
	if !s.Has(t1) {
		t.Error("Has = false for a published tree")
	}
	dst := filepath.Join(t.TempDir(), "copy")
	tree, err := copyTo(s, dst, t1)
	if err != nil || tree.T1() != t1 {
		t.Fatalf("CopyTo = %v, %v", tree, err)
	}
	if text, err := os.ReadFile(filepath.Join(dst, "main.tf")); err != nil || string(text) != "# a\n" {
		t.Errorf("the copy holds %q, %v", text, err)
	}
	if _, err := copyTo(s, dst+"2", "t1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("CopyTo of an absent tree = %v, want fs.ErrNotExist", err)
	}
	info, err := os.Stat(s.Dir())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the cache has mode %v, %v; want 0700", info.Mode(), err)
	}
}

// TestCopiesShareTree says that a package and its copies have one tree in memory, as long as one of them is in use.
func TestCopiesShareTree(t *testing.T) {
	t.Parallel()
	s := openModules(t, filepath.Join(t.TempDir(), "cache"))
	t1, dir := publishModule(t, s, "# a\n"), t.TempDir()
	first, err := copyTo(s, filepath.Join(dir, "1"), t1)
	must(t, err)
	second, err := copyTo(s, filepath.Join(dir, "2"), t1)
	must(t, err)
	if read, err := s.Read(t.Context(), t1); err != nil || first != second || first != s.Same(read) {
		t.Errorf("two copies, and what is in the cache, have trees of their own; %v", err)
	}
	freed := weak.Make(first)
	runtime.GC()
	third, err := copyTo(s, filepath.Join(dir, "3"), t1)
	if err != nil || third.T1() != t1 || freed.Value() != nil {
		t.Errorf("a copy after the others are not in use = %v, %v; the tree of those is in memory: %t", third, err, freed.Value() != nil)
	}
}

// Whatever happens to a cached tree, a copy of it is either correct or refused.
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
			s := openModules(t, t.TempDir())
			t1 := publishModule(t, s, "# a\n")
			must(t, damage(filepath.Join(s.Dir(), "tree", store.FileName(t1))))
			dst := filepath.Join(t.TempDir(), "copy")
			if _, err := copyTo(s, dst, t1); !errors.Is(err, store.ErrDamaged) {
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

// A run that is canceled while it reads a tree has not found that the tree is damaged.
func TestCanceledCheck(t *testing.T) {
	t.Parallel()
	s := openModules(t, t.TempDir())
	t1 := publishModule(t, s, "a")
	for asked := range int64(4) {
		ctx := &expiring{Context: t.Context()}
		ctx.asked.Store(20 - asked)
		if err := s.Check(ctx, store.FileName(t1)); !errors.Is(err, context.Canceled) || errors.Is(err, store.ErrDamaged) {
			t.Errorf("Check, canceled after %d questions = %v", asked, err)
		}
		if !s.Has(t1) {
			t.Fatalf("Check, canceled after %d questions, removed the tree", asked)
		}
	}
}

// Of several copies at once of a damaged tree, none fails because another one has replaced it, and
// none moves the new tree away.
func TestDamageConcurrently(t *testing.T) {
	t.Parallel()
	s := openModules(t, t.TempDir())
	t1 := publishModule(t, s, "# a\n")
	for range 100 {
		must(t, os.WriteFile(filepath.Join(s.TreePath(t1), "main.tf"), []byte("# b\n"), 0o644))
		dir := t.TempDir()
		var wait sync.WaitGroup
		for i := range 4 {
			wait.Go(func() {
				_, err := copyTo(s, filepath.Join(dir, strconv.Itoa(i)), t1)
				switch {
				case errors.Is(err, store.ErrDamaged), errors.Is(err, fs.ErrNotExist):
					publishModule(t, s, "# a\n")
					if _, err := copyTo(s, filepath.Join(dir, "again"+strconv.Itoa(i)), t1); err != nil {
						t.Error(err)
					}
				case err != nil:
					t.Error(err)
				}
			})
		}
		wait.Wait()
	}
}

// A package that was damaged, and was replaced while it was read, is not moved away.
func TestReplacedWhileChecked(t *testing.T) {
	t.Parallel()
	s := openModules(t, t.TempDir())
	t1 := publishModule(t, s, "# a\n")
	reads := 0
	err := s.CheckWith(store.FileName(t1), func(dir string) (string, error) {
		if reads++; reads > 1 {
			return store.FileName(t1), nil
		}
		if err := os.Rename(dir, s.Stage()); err != nil {
			return "", err
		}
		publishModule(t, s, "# a\n")
		return "the name of other content", nil
	})
	if err != nil || reads != 2 || !s.Has(t1) {
		t.Errorf("Check = %v after %d readings, and the package is there: %v; want no error after 2, true", err, reads, s.Has(t1))
	}
}

// The next process removes a staging directory whose process has ended, and files next to it, but not one whose
// process is still running. A file in the place of a directory of the cache is replaced.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "stage/killed/tree/below"), 0o700))
	must(t, os.Chmod(filepath.Join(dir, "stage/killed/tree"), 0o500))
	for _, name := range []string{"stage/file", "quarantine"} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	first := openModules(t, dir)
	staged := first.Stage()
	must(t, os.Mkdir(staged, 0o700))
	second := openModules(t, dir)
	if info, err := os.Lstat(filepath.Join(dir, "quarantine")); err != nil || !info.IsDir() {
		t.Errorf("a file in the place of a directory stays: %v, %v", info, err)
	}
	left, err := os.ReadDir(filepath.Join(dir, "stage"))
	if err != nil || len(left) != 2 {
		t.Errorf("while two processes run, the stage has %v, %v", left, err)
	}
	if _, err := os.Lstat(staged); err != nil {
		t.Errorf("the stage of a living process is gone: %v", err)
	}
	must(t, errors.Join(first.Close(), second.Close()))
	left, err = os.ReadDir(filepath.Join(dir, "stage"))
	if err != nil || len(left) > 0 {
		t.Errorf("after Close the stage has %v, %v", left, err)
	}
}

// Open fails at once if a file has the name of the cache directory, or if the directory cannot
// be created.
func TestOpenUnusable(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for _, dir := range []string{file, filepath.Join(file, "cache")} {
		if c, err := store.OpenModules(dir, userkey.Random()); err == nil {
			t.Errorf("Open(%q) = nil, want an error", dir)
			_ = c.Close()
		}
	}
}

func TestPublishReplacesFile(t *testing.T) {
	t.Parallel()
	s := openModules(t, t.TempDir())
	t1 := publishModule(t, s, "# text\n")
	must(t, os.RemoveAll(s.TreePath(t1)))
	must(t, os.WriteFile(s.TreePath(t1), nil, 0o600))
	publishModule(t, s, "# text\n")
	if !s.Has(t1) {
		t.Error("Publish did not replace a file with the name of the tree")
	}
}

func TestModuleEntries(t *testing.T) {
	t.Parallel()
	s := openModules(t, t.TempDir())
	if entries, err := store.ViewModules(s.Dir(), userkey.Random()).Entries(); err != nil || entries != nil {
		t.Errorf("Entries of an empty cache = %v, %v", entries, err)
	}
	t1 := publishModule(t, s, "12345")
	name := store.FileName(t1)
	long := time.Now().Add(-48 * time.Hour)
	must(t, os.Chtimes(filepath.Join(s.Dir(), "tree", name), long, long))
	must(t, os.WriteFile(filepath.Join(s.Dir(), "tree", "file"), nil, 0o600)) // is no entry
	must(t, os.MkdirAll(filepath.Join(s.Dir(), "tree", "zz", "below"), 0o700))
	must(t, os.WriteFile(filepath.Join(s.Dir(), "tree", "zz", "below", "x"), []byte("123"), 0o600))
	entries, err := store.ViewModules(s.Dir(), userkey.Random()).Entries()
	if err != nil || len(entries) != 2 || entries[1].Name != "zz" || entries[1].Bytes != 3 {
		t.Fatalf("Entries = %v, %v; want two", entries, err)
	}
	if diff := cmp.Diff(name, entries[0].Name); diff != "" || entries[0].Bytes != 5 || time.Since(entries[0].Used) < 47*time.Hour {
		t.Errorf("Entries = %+v", entries)
	}
	if _, err := copyTo(s, filepath.Join(t.TempDir(), "copy"), t1); err != nil {
		t.Fatal(err)
	}
	if entries, err = store.ViewModules(s.Dir(), userkey.Random()).Entries(); err != nil || time.Since(entries[0].Used) > time.Hour {
		t.Errorf("after a use, Entries = %+v, %v", entries, err)
	}
	if err := s.Check(t.Context(), name); err != nil {
		t.Errorf("Check = %v", err)
	}
	if removed, err := s.Remove(name); !removed || err != nil || s.Has(t1) {
		t.Errorf("Remove = %v, %v; it is there: %v", removed, err, s.Has(t1))
	}
	if err := s.Check(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Check of what was removed = %v, want ErrNotExist", err)
	}
}
