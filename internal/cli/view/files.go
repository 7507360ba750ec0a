package view

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Below joins name to dir unless it is absolute.
func Below(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

func Absent(name string) bool {
	_, err := os.Lstat(name)
	return errors.Is(err, fs.ErrNotExist)
}

func IsDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// ShownPath returns a path relative to the current directory, with slashes.
func ShownPath(dir, name string) string {
	return filepath.ToSlash(Below(dir, name))
}
