package gitexec

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// CachedStore is a bare repository below a Fetcher's CacheDir.
type CachedStore struct {
	// Dir is the directory of the store.
	Dir string
	// Used is the time of the last fetch into the store, or of the last read from it.
	Used time.Time
}

// storeName matches the directory names of stores.
var storeName = pattern(`^[0-9a-f]{64}$`)

// CachedStores returns the bare repositories below a Fetcher's CacheDir, sorted by directory.
// It returns none if the directory does not exist, or is a link.
func CachedStores(cacheDir string) ([]CachedStore, error) {
	dir := filepath.Join(cacheDir, "git")
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var stores []CachedStore
	for _, entry := range entries {
		if !entry.IsDir() || !storeName().MatchString(entry.Name()) {
			continue // a lock file
		}
		found := CachedStore{Dir: filepath.Join(dir, entry.Name())}
		if info, err := os.Lstat(found.Dir + ".lock"); err == nil {
			found.Used = info.ModTime()
		}
		stores = append(stores, found)
	}
	return stores, err
}

// Remove removes the store once no process uses it. The lock files stay, because another
// process may be waiting for them. They are removed only if they are not regular files.
func (s CachedStore) Remove(ctx context.Context) error {
	found := store{dir: s.Dir, lockFile: s.Dir + ".lock"}
	err := found.remove(ctx)
	if !errors.Is(err, errNotFile) && !errors.Is(err, syscall.ELOOP) && !errors.Is(err, syscall.EISDIR) {
		return err
	}
	return errors.Join(os.RemoveAll(s.Dir+".lock"), os.RemoveAll(s.Dir+".git"), os.RemoveAll(s.Dir))
}
