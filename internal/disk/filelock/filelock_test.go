package filelock_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/filelock"
	"github.com/cotterpin/cotter/internal/testenv"
)

// locks returns functions that make locks on a file and on a directory.
func locks(t *testing.T) map[string]func() *filelock.Lock {
	t.Helper()
	dir := t.TempDir()
	return map[string]func() *filelock.Lock{
		"file":      func() *filelock.Lock { return filelock.File(filepath.Join(dir, "lock")) },
		"directory": func() *filelock.Lock { return filelock.Dir(dir) },
	}
}

func try(t *testing.T, take func() (bool, error)) bool {
	t.Helper()
	ok, err := take()
	if errors.Is(err, filelock.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Error(err)
	}
	return ok
}

func TestLock(t *testing.T) {
	t.Parallel()
	for name, lock := range locks(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second, third := lock(), lock(), lock()
			if !try(t, first.TryShared) || !try(t, second.TryShared) {
				t.Error("two shared locks exclude each other")
			}
			if try(t, third.TryExclusive) {
				t.Error("an exclusive lock beside shared ones")
			}
			testenv.Must(t, errors.Join(first.Release(), second.Release()))
			if !try(t, third.TryExclusive) || try(t, first.TryShared) {
				t.Error("an exclusive lock does not exclude a shared one")
			}
			ctx, cancel := context.WithCancel(t.Context())
			if err := second.Exclusive(ctx, 0, cancel); !errors.Is(err, context.Canceled) {
				t.Errorf("Exclusive of what is locked = %v, want the context's error", err)
			}
			freed := make(chan error)
			if err := second.Exclusive(t.Context(), 0, func() { go func() { freed <- third.Release() }() }); err != nil {
				t.Error(err)
			}
			if err := errors.Join(<-freed, second.Release()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDirAbsent(t *testing.T) {
	t.Parallel()
	if _, err := filelock.Dir(filepath.Join(t.TempDir(), "absent")).TryShared(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("TryShared of an absent directory = %v, want fs.ErrNotExist", err)
	}
}

// If the lock file is a link, no file is created elsewhere.
func TestFileFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name, target := filepath.Join(dir, "lock"), filepath.Join(dir, "target")
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if ok, err := filelock.File(name).TryExclusive(); ok || err == nil {
		t.Errorf("TryExclusive of a link = %v, %v; want an error", ok, err)
	}
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link's target was made: %v", err)
	}
}

func TestIsAt(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "dir")
	testenv.Must(t, os.Mkdir(dir, 0o700))
	lock := filelock.Dir(dir)
	if !try(t, lock.TryShared) || !lock.IsAt(dir) {
		t.Error("a locked directory is not at its name")
	}
	testenv.Must(t, errors.Join(os.Rename(dir, dir+".away"), os.Mkdir(dir, 0o700)))
	if lock.IsAt(dir) || !lock.IsAt(dir+".away") {
		t.Error("a locked directory that was moved is not where it was moved to")
	}
	testenv.Must(t, lock.Release())
}

// A user can find a lock file that cannot be opened.
func TestFileInNamesPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testenv.Must(t, os.Mkdir(filepath.Join(dir, "lock"), 0o700))
	root, err := os.OpenRoot(dir)
	testenv.Must(t, err)
	defer root.Close()
	failed, ok := errors.AsType[*fs.PathError](func() error { _, err := filelock.FileIn(root, dir, "lock"); return err }())
	if want := filepath.Join(dir, "lock"); !ok || failed.Path != want {
		t.Errorf("FileIn of a directory: %v, want an error that names %s", failed, want)
	}
}
