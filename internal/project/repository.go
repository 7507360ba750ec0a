package project

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/configuration/repofiles"
)

// RepositoryDirs returns an absolute directory and those above it, up to the root of its git
// repository, or only itself if it is not in one.
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

type FoundFile struct {
	Path string
	// Shown is relative to the starting directory.
	Shown string
	dir   string
}

// Read reads at most limit+1 bytes. A link may only point to a configuration file of the repository:
// otherwise the error is a [*config.FileReadError], because errors quote lines of what was read.
func (f FoundFile) Read(limit int64) ([]byte, error) {
	if info, err := os.Lstat(f.Path); err != nil || info.Mode().Type() != fs.ModeSymlink {
		return ReadRegular(f.Path, limit)
	}
	own, err := repofiles.Find(f.dir, "")
	if err != nil {
		return nil, err
	}
	file, err := own.OpenQuotable(f.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, limit+1))
}

// FilesAbove returns the files with a name in [RepositoryDirs], nearest first.
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
		found = append(found, FoundFile{path, shown, dir})
	}
	return found, nil
}

// ReadRegular reads at most limit+1 bytes. It fails for devices and pipes instead of waiting for them.
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
