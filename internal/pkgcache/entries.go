package pkgcache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cotterpin/cotter/internal/filelock"
	"github.com/cotterpin/cotter/internal/step"
)

// Entry is a published tree.
type Entry struct {
	// Name is the tree's file name, from [FileName].
	Name string
	// Bytes is the sum of the sizes of the tree's files.
	Bytes int64
	// Used is the time at which the tree was published or last copied from the cache, accurate to
	// the hour.
	Used time.Time
}

// Entries returns the published trees of the cache at dir, sorted by name. It returns nil if
// there is no cache.
func Entries(dir string) ([]Entry, error) {
	trees := filepath.Join(dir, treesName)
	found, err := os.ReadDir(trees)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	var entries []Entry
	for _, f := range found {
		info, err := f.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			continue // another process removed it, or it is not a tree
		}
		if err != nil {
			return nil, err
		}
		bytes, err := Size(filepath.Join(trees, f.Name()))
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{Name: f.Name(), Bytes: bytes, Used: info.ModTime()})
	}
	return entries, err
}

// Size returns the sum of the sizes of the files at and below a path. It ignores files that
// another process removes meanwhile.
func Size(path string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = entry.Info(); err == nil {
				sum += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return sum, err
}

// Remove removes a published tree unless a process uses it, and reports whether it did. For other
// processes the tree disappears at once.
func (c *Cache) Remove(name string) (bool, error) {
	c.release(name)
	path := c.treePath(name)
	lock := filelock.Dir(path)
	ok, err := lock.TryExclusive()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil && !errors.Is(err, filelock.ErrUnsupported):
		return false, err
	case err == nil && !ok:
		return false, nil
	case err == nil && !lock.IsAt(path):
		return false, lock.Release()
	}
	staged := c.Stage()
	err = step.Do("cache.clean.move", func() error { return os.Rename(path, staged) })
	if err == nil {
		err = step.Do("cache.clean.remove", func() error { return os.RemoveAll(staged) })
	}
	return err == nil, errors.Join(err, lock.Release())
}

// QuarantineDir returns the directory for damaged trees of the cache at dir.
func QuarantineDir(dir string) string { return filepath.Join(dir, quarantineName) }

// Forget removes the answers and confirmations that were last recorded or used before a time.
func (c *Cache) Forget(before time.Time) error {
	return errors.Join(c.forget(answersName, before), c.forget(confirmedName, before))
}

// forget removes the files of a directory that are older than a time.
func (c *Cache) forget(name string, before time.Time) error {
	dir := filepath.Join(c.dir, name)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		info, infoErr := entry.Info()
		if infoErr != nil || info.ModTime().After(before) {
			continue // another process removed it, or it is newer
		}
		// Another process may be waiting for this file. In the worst case, two processes fetch the
		// same package.
		e := step.Do("cache.forget.remove", func() error { return os.Remove(filepath.Join(dir, entry.Name())) })
		if !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}
