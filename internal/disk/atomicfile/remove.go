package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveAllIn is [RemoveAll] for a name in an open directory.
func RemoveAllIn(root *os.Root, name string) error {
	if root.RemoveAll(name) == nil {
		return nil
	}
	_ = fs.WalkDir(root.FS(), name, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return root.Chmod(name, 0o700)
		}
		return err
	})
	return root.RemoveAll(name)
}

// RemoveAll also removes trees with read-only directories of this user, as in a restored cache, which
// [os.RemoveAll] can only as root. It does not follow links.
func RemoveAll(dir string) error {
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
