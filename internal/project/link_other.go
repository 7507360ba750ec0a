//go:build !windows

package project

import (
	"os"
	"path/filepath"
)

// linkDirectory makes a symbolic link in an open directory. path is that of the link.
func linkDirectory(target string, dir *os.Root, path string) error {
	return dir.Symlink(target, filepath.Base(path))
}
