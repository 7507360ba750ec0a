package providerstore

import (
	"path/filepath"

	"github.com/cotterpin/cotter/internal/dirstore"
	"github.com/cotterpin/cotter/internal/step"
)

// Entries returns the packages of the store in a cache directory, sorted by name. It returns nil
// if there is no store.
func Entries(cacheDir string) ([]dirstore.Entry, error) {
	return dirstore.Entries(filepath.Join(cacheDir, storeName, packagesName))
}

// QuarantineDir returns the directory for damaged packages of the store in a cache directory.
func QuarantineDir(cacheDir string) string {
	return filepath.Join(cacheDir, storeName, quarantineName)
}

// Remove removes a package unless a process uses it, and reports whether it did. The
// package vanishes at once for other processes. Projects that have a link to it have to
// install it again.
func (s *Store) Remove(name string) (bool, error) {
	return s.remove(name, func() (bool, error) { return true, nil })
}

// remove removes a package unless a process uses it or may returns false. No process can start to
// use the package while may is called.
func (s *Store) remove(name string, may func() (bool, error)) (bool, error) {
	if s.dir == "" || !filepath.IsLocal(name) || filepath.Base(name) != name || name == "." {
		return false, nil
	}
	path := s.path(name)
	allowed := true
	removed, err := s.inUse.Remove(path, func() (err error) {
		if allowed, err = may(); err != nil || !allowed {
			return err
		}
		staged, err := s.Stage()
		if err == nil {
			err = s.move("provider.clean.move", path, staged)
		}
		if err != nil {
			return err
		}
		return step.Do("provider.clean.remove", func() error { return dirstore.RemoveAll(staged) })
	})
	return removed && allowed, err
}

// RemoveQuarantine removes all damaged packages.
func (s *Store) RemoveQuarantine() error {
	if s.dir == "" {
		return nil
	}
	return dirstore.RemoveAll(filepath.Join(s.dir, quarantineName))
}
