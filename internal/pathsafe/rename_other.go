//go:build !unix

package pathsafe

import (
	"os"
	"path/filepath"
)

// Rename renames a file or directory of one open directory to a name in another. The names have one component. Here, the
// directories are found by their paths.
func Rename(from *os.Root, oldName string, to *os.Root, newName string) error {
	return os.Rename(filepath.Join(from.Name(), oldName), filepath.Join(to.Name(), newName))
}
