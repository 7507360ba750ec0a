package providerstore

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

// Entry is a package in a store.
type Entry struct {
	// Name is the file name of the package.
	Name string
	// Bytes is the sum of the sizes of the package's files.
	Bytes int64
	// Used is the time at which the package was published or last used, accurate to the hour.
	Used time.Time
}

// Entries returns the packages of the store in a cache directory, sorted by name. It returns nil
// if there is no store.
func Entries(cacheDir string) ([]Entry, error) {
	packages := filepath.Join(cacheDir, storeName, packagesName)
	found, err := os.ReadDir(packages)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	var entries []Entry
	for _, f := range found {
		info, infoErr := f.Info()
		if errors.Is(infoErr, fs.ErrNotExist) || infoErr == nil && !info.IsDir() {
			continue // another process removed it, or it is not a package
		}
		if infoErr != nil {
			return nil, infoErr
		}
		bytes, sizeErr := size(filepath.Join(packages, f.Name()))
		if sizeErr != nil {
			return nil, sizeErr
		}
		entries = append(entries, Entry{Name: f.Name(), Bytes: bytes, Used: info.ModTime()})
	}
	return entries, err
}

// QuarantineDir returns the directory for damaged packages of the store in a cache directory.
func QuarantineDir(cacheDir string) string {
	return filepath.Join(cacheDir, storeName, quarantineName)
}

// size returns the sum of the sizes of the files below a directory. It ignores files that another
// process removes meanwhile.
func size(dir string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
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

// Remove removes a package unless a process uses it, and reports whether it did. For other
// processes the package disappears at once. Projects that have a link to it must install it
// again.
func (s *Store) Remove(name string) (bool, error) {
	s.release(name)
	path := s.path(name)
	if s.dir == "" || !filepath.IsLocal(name) || filepath.Base(name) != name || name == "." {
		return false, nil
	}
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
	staged, err := s.Stage()
	if err == nil {
		err = s.move("provider.clean.move", path, staged)
	}
	if err == nil {
		err = step.Do("provider.clean.remove", func() error { return removeAll(staged) })
	}
	return err == nil, errors.Join(err, lock.Release())
}

// RemoveQuarantine removes all damaged packages.
func (s *Store) RemoveQuarantine() error {
	if s.dir == "" {
		return nil
	}
	return removeAll(filepath.Join(s.dir, quarantineName))
}
