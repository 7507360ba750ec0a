package getmodules

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// GitStore is a bare repository below a Fetcher's CacheDir.
type GitStore struct {
	// Dir is where it is.
	Dir string
	// Used is when it was last fetched into or read.
	Used time.Time
}

// GitStores are the bare repositories below a Fetcher's CacheDir, sorted by
// their directories; none where there is no such directory.
func GitStores(cacheDir string) ([]GitStore, error) {
	dir := filepath.Join(cacheDir, "git")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var stores []GitStore
	for _, entry := range entries {
		if !entry.IsDir() {
			continue // the lock files
		}
		store := GitStore{Dir: filepath.Join(dir, entry.Name())}
		if info, err := os.Stat(store.Dir + ".lock"); err == nil {
			store.Used = info.ModTime()
		}
		stores = append(stores, store)
	}
	return stores, err
}

// Remove removes the repository when nobody uses it any more. The lock files
// stay: somebody may be waiting at them.
func (s GitStore) Remove(ctx context.Context) error {
	store := gitStore{dir: s.Dir, lockFile: s.Dir + ".lock"}
	return store.remove(ctx)
}
