package modtest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// HostPlaceholder is the text in the files of a tree that is replaced by the world's host and
// port.
const HostPlaceholder = "MODTEST_HOST"

// TreeError is an error at a path of the tree from which a world should be created.
type TreeError struct {
	Path string // in the tree, with forward slashes
	Err  error
}

func (e *TreeError) Error() string { return fmt.Sprintf("modtest: %q: %v", e.Path, e.Err) }

// Unwrap returns the reason without the path.
func (e *TreeError) Unwrap() error { return e.Err }

// errStrayFile is the reason why a file between the levels is refused: it would never be served,
// and usually a level was forgotten.
var errStrayFile = errors.New("a file where only directories have a meaning")

// file is one file of a tree, ready to be served.
type file struct {
	path string
	mode fs.FileMode // 0o644, 0o755 or fs.ModeSymlink
	data []byte      // the target if it is a link
}

// readFiles reads all files of fsys, sorted by path, and expands the placeholder.
func readFiles(fsys fs.FS, host string) ([]file, error) {
	var files []file
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := readFile(fsys, name, d.Type())
		if err != nil {
			return err
		}
		f.data = expand(f.data, host)
		files = append(files, f)
		return nil
	})
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return files, err
}

func readFile(fsys fs.FS, name string, kind fs.FileMode) (file, error) {
	switch {
	case kind == fs.ModeSymlink:
		target, err := fs.ReadLink(fsys, name)
		return file{name, fs.ModeSymlink, []byte(target)}, err
	case !kind.IsRegular():
		return file{}, &TreeError{name, fmt.Errorf("cannot serve a file of the type %v", kind)}
	}
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return file{}, err
	}
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return file{}, err
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	return file{name, mode, data}, nil
}

func expand(data []byte, host string) []byte {
	return bytes.ReplaceAll(data, []byte(HostPlaceholder), []byte(host))
}

// directories returns the names of the directories in dir, sorted. It returns none if dir does
// not exist.
func directories(fsys fs.FS, dir string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &TreeError{dir, err}
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			return nil, &TreeError{path.Join(dir, e.Name()), errStrayFile}
		}
		names = append(names, e.Name())
	}
	return names, nil
}

// roots returns the directories below top whose names satisfy isRoot, without those that are
// inside another one. The paths are relative to top.
func roots(fsys fs.FS, top string, isRoot func(name string) bool) ([]string, error) {
	names, err := directories(fsys, top)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names {
		if isRoot(name) {
			found = append(found, name)
			continue
		}
		below, err := roots(fsys, path.Join(top, name), isRoot)
		if err != nil {
			return nil, err
		}
		for _, b := range below {
			found = append(found, path.Join(name, b))
		}
	}
	return found, nil
}

// subtree is like fs.Sub, for paths that were found in fsys and are therefore valid.
func subtree(fsys fs.FS, dir string) (fs.FS, error) {
	sub, err := fs.Sub(fsys, dir)
	if err != nil {
		return nil, &TreeError{dir, err}
	}
	return sub, nil
}
