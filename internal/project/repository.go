package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/pathsafe"
)

// RepositoryDirs returns an absolute directory and the directories above it, up to the root of
// its git repository. It returns only the directory itself if it is not in a git repository.
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
	// Shown is the path of the file relative to the starting directory.
	Shown string
}

// FilesAbove returns the files with a given name in a directory and in the directories above it
// within the git repository, nearest first.
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

// ReadRegular reads a regular file. If the file has more than limit bytes, it returns limit+1
// bytes. It fails for devices and pipes instead of waiting for them.
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

// MetadataError says that a file or directory of a project would be in the metadata of version
// control, such as .git. A repository's own settings could otherwise make Cotter overwrite files
// that git reads, and with them the programs that git runs.
type MetadataError struct {
	// What describes the file or directory: "the lock file".
	What string
	// Path is its path. Part is the component of the path that is the name of
	// metadata, after links in the path have been followed.
	Path, Part string
}

func (e *MetadataError) Error() string {
	return fmt.Sprintf("%s %q is in %q, which belongs to version control", e.What, e.Path, e.Part)
}

// check returns a *[MetadataError] if a path of the location is in the metadata of version
// control, also through links. Directories above the root module do not matter.
func (l Location) check() error {
	root, err := filepath.Abs(l.Dir)
	if err != nil {
		return err
	}
	for _, file := range []struct{ what, path string }{
		{"the lock file", l.lockPath()},
		{"the data directory", l.DataDir},
		{"the directory of modules", l.Modules()},
		{"the directory of providers", filepath.Join(l.DataDir, "providers")},
	} {
		name, err := filepath.Abs(file.path)
		if err != nil {
			return err
		}
		part := metadataBelow(root, name)
		if part == "" {
			part = metadataBelow(resolve(root), resolve(name))
		}
		if part != "" {
			return &MetadataError{What: file.what, Path: file.path, Part: part}
		}
	}
	return nil
}

// metadataBelow returns the component that is the name of metadata in the path from one absolute
// path to another, or "".
func metadataBelow(root, name string) string {
	if below, err := filepath.Rel(root, name); err == nil {
		name = below
	}
	return pathsafe.VersionControlPart(name)
}

// resolve returns an absolute path without links. The part that does not exist, or that cannot be
// followed, stays as it is.
func resolve(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	dir := filepath.Dir(name)
	if dir == name {
		return name
	}
	return filepath.Join(resolve(dir), filepath.Base(name))
}
