package pkgcache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/internal/dirstore"
	"github.com/cotterpin/cotter/internal/step"
)

// Entries returns the published trees of the cache at dir, sorted by name. It returns nil if
// there is no cache.
func Entries(dir string) ([]dirstore.Entry, error) {
	return dirstore.Entries(filepath.Join(dir, treesName))
}

// Remove removes a published tree unless a process uses it, and reports whether it did. For other
// processes the tree disappears at once.
func (c *Cache) Remove(name string) (bool, error) {
	path := c.treePath(name)
	return c.inUse.Remove(path, func() error {
		staged := c.Stage()
		if err := step.Do("cache.clean.move", func() error { return os.Rename(path, staged) }); err != nil {
			return err
		}
		return step.Do("cache.clean.remove", func() error { return os.RemoveAll(staged) })
	})
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
