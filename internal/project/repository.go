package project

import (
	"os"
	"path/filepath"
)

// RepositoryDirs returns an absolute directory and those above it as far as its git
// repository goes; the directory alone if it is in none.
func RepositoryDirs(dir string) []string {
	dirs := []string{dir}
	for at := dir; !exists(filepath.Join(at, ".git")); {
		if at == filepath.Dir(at) {
			return dirs[:1]
		}
		at = filepath.Dir(at)
		dirs = append(dirs, at)
	}
	return dirs
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
