package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cotterpin/cotter/internal/filelock"
	"github.com/cotterpin/cotter/internal/store"
)

// NewStage keeps the stages of running processes. It removes the stages of killed processes, and
// files next to them, with everything in them, even read-only directories.
func TestNewStage(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	living, err := store.NewStage(parent, "test")
	must(t, err)
	killed := filepath.Join(parent, "killed")
	writeFile(t, filepath.Join(killed, "package", "main.tf"), "")
	must(t, os.Chmod(filepath.Join(killed, "package"), 0o555))
	writeFile(t, filepath.Join(parent, "file"), "")

	second, err := store.NewStage(parent, "test")
	must(t, err)
	if got, want := names(t, parent), sorted(filepath.Base(living.Dir()), filepath.Base(second.Dir())); !cmp.Equal(got, want) {
		t.Errorf("the stages are %q, want %q", got, want)
	}
	if path := second.Path(); filepath.Dir(path) != second.Dir() || path == second.Path() {
		t.Errorf("Path = %s, want a new one in %s", path, second.Dir())
	}
	must(t, errors.Join(living.Close(), second.Close()))
	if got := names(t, parent); len(got) > 0 {
		t.Errorf("after Close there are %q", got)
	}
}

// A directory is removed only if no process uses it.
func TestInUse(t *testing.T) {
	t.Parallel()
	var mine, other store.InUse
	path := filepath.Join(t.TempDir(), "published")
	if mine.Use(path) {
		t.Fatal("Use of a directory that does not exist succeeded")
	}
	staged := filepath.Join(t.TempDir(), "staged")
	writeFile(t, filepath.Join(staged, "main.tf"), "")
	rename := func() error { return os.Rename(staged, path) }
	must(t, mine.Publish(staged, path, rename))
	remove := func() error { return os.RemoveAll(path) }
	if removed, err := other.Remove(path, remove); removed || err != nil {
		t.Fatalf("Remove of a directory that another process has published = %v, %v", removed, err)
	}
	if !other.Use(path) {
		t.Fatal("two processes cannot use one directory")
	}
	mine.Release(path)
	if removed, err := mine.Remove(path, remove); removed || err != nil {
		t.Fatalf("Remove of a directory that another process uses = %v, %v", removed, err)
	}
	must(t, other.Close())
	if removed, err := mine.Remove(path, remove); !removed || err != nil {
		t.Fatalf("Remove = %v, %v", removed, err)
	}
	if removed, err := mine.Remove(path, remove); removed || err != nil {
		t.Fatalf("Remove of a directory that is gone = %v, %v", removed, err)
	}
}

// While a process removes a directory, others do not begin to use it.
func TestUseWhileRemoved(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	lock := filelock.Dir(path)
	if ok, err := lock.TryExclusive(); !ok || err != nil {
		t.Skipf("directories cannot be locked here: %v", err)
	}
	var other store.InUse
	if other.Use(path) {
		t.Error("Use of a directory that is being removed succeeded")
	}
	must(t, lock.Release())
}

// A rename that fails is reported, and leaves nothing locked.
func TestPublishFails(t *testing.T) {
	t.Parallel()
	var u, other store.InUse
	staged := t.TempDir()
	failure := errors.New("disk full")
	if err := u.Publish(staged, "published", func() error { return failure }); !errors.Is(err, failure) {
		t.Errorf("Publish = %v", err)
	}
	if removed, err := other.Remove(staged, func() error { return nil }); !removed || err != nil {
		t.Errorf("the staged directory is still locked: %v, %v", removed, err)
	}
}

func TestEntriesOf(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	writeFile(t, filepath.Join(parent, "b", "sub", "main.tf"), "12345")
	writeFile(t, filepath.Join(parent, "b", "other.tf"), "67")
	writeFile(t, filepath.Join(parent, "a", "main.tf"), "1")
	writeFile(t, filepath.Join(parent, "file"), "is no entry")
	old := time.Now().Add(-48 * time.Hour)
	must(t, os.Chtimes(filepath.Join(parent, "b"), old, old))
	store.MarkUsed(filepath.Join(parent, "b"))
	got, err := store.EntriesOf(parent)
	want := []store.Entry{{Name: "a", Bytes: 1, Used: time.Now()}, {Name: "b", Bytes: 7, Used: time.Now()}}
	if diff := cmp.Diff(want, got, cmpopts.EquateApproxTime(time.Hour)); diff != "" || err != nil {
		t.Errorf("Entries (-want +got, %v):\n%s", err, diff)
	}
	if got, err := store.EntriesOf(filepath.Join(parent, "absent")); got != nil || err != nil {
		t.Errorf("Entries of a directory that does not exist = %v, %v", got, err)
	}
}

// MakeDir replaces anything that is not a directory, and keeps existing directories.
func TestMakeDir(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "store")
	writeFile(t, name, "a file")
	for range 2 {
		must(t, store.MakeDir(name, "test"))
	}
	if info, err := os.Lstat(name); err != nil || !info.IsDir() {
		t.Errorf("there is %v, %v", info, err)
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(text), 0o600))
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var found []string
	for _, entry := range entries {
		found = append(found, entry.Name())
	}
	return found
}

func sorted(a, b string) []string { return []string{min(a, b), max(a, b)} }
