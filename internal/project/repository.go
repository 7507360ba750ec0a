package project

import (
	"errors"
	"io"
	"io/fs"
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

// NearestFile returns the path of the file with a name in a directory, or else in the
// nearest one above it within the git repository, and the path from the directory to it.
// Both are empty if there is none.
func NearestFile(dir, name string) (path, shown string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return "", "", err
	}
	for _, at := range RepositoryDirs(dir) {
		if path := filepath.Join(at, name); exists(path) {
			shown, err := filepath.Rel(dir, path)
			return path, shown, err
		}
	}
	return "", "", nil
}

// ReadRegular reads a file that has no more than limit bytes, and a byte more of one that
// has. It does not wait for devices and pipes.
func ReadRegular(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a regular file")}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, limit+1))
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
