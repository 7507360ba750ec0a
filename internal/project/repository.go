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

// FoundFile is a file in a directory or above it.
type FoundFile struct {
	Path string
	// Shown is the path from the directory to it.
	Shown string
}

// FilesAbove returns the files with a name in a directory and in those above it within the
// git repository, the nearest first.
func FilesAbove(dir, name string) ([]FoundFile, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	var found []FoundFile
	for _, at := range RepositoryDirs(dir) {
		path := filepath.Join(at, name)
		if !exists(path) {
			continue
		}
		shown, err := filepath.Rel(dir, path)
		if err != nil {
			return nil, err
		}
		found = append(found, FoundFile{path, shown})
	}
	return found, nil
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
