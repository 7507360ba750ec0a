//go:build !unix

package store

import (
	"os"
	"path/filepath"
)

// renameBetween renames a file or directory of one open directory to a name in another. The names have one component. Here, the
// directories are found by their paths.
func renameBetween(from *os.Root, oldName string, to *os.Root, newName string) error {
	return os.Rename(filepath.Join(from.Name(), oldName), filepath.Join(to.Name(), newName))
}
