// Package removeall removes trees whose directories may be read-only, such as those of a cache that
// was restored from elsewhere. Only root can remove them without changing their modes first.
package removeall

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Dir is like [os.RemoveAll], but also removes trees with read-only directories of this user. It
// does not follow links.
func Dir(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(name, 0o700) //nolint:gosec // the directory is about to be removed
		}
		return err
	})
	return os.RemoveAll(dir)
}
