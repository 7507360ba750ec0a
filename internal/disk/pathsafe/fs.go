package pathsafe

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FS is [os.Root.FS] for names that need not be valid UTF-8, which package io/fs requires. Opening a named pipe does
// not wait for a writer.
func FS(root *os.Root) RootFS { return RootFS{root} }

// RootFS is returned by [FS]. Its methods take the names that [IsName] accepts.
type RootFS struct{ root *os.Root }

var _ fs.ReadLinkFS = RootFS{}

func (f RootFS) Open(name string) (fs.File, error) {
	at, err := native("open", name)
	if err != nil {
		return nil, err
	}
	file, err := f.root.OpenFile(at, os.O_RDONLY|Nonblock, 0)
	if err != nil {
		return nil, err // and not a nil *os.File
	}
	return file, nil
}

// OpenRoot opens a directory below, which must be closed: its files need not be looked up from the top.
func (f RootFS) OpenRoot(name string) (RootFS, error) {
	at, err := native("open", name)
	if err != nil {
		return RootFS{}, err
	}
	root, err := f.root.OpenRoot(at)
	return RootFS{root}, err
}

func (f RootFS) Close() error { return f.root.Close() }

// ReadDir returns the entries sorted by name.
func (f RootFS) ReadDir(name string) ([]fs.DirEntry, error) {
	dir, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.(*os.File).ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// Stat follows links within the root.
func (f RootFS) Stat(name string) (fs.FileInfo, error) {
	at, err := native("stat", name)
	if err != nil {
		return nil, err
	}
	return f.root.Stat(at)
}

func (f RootFS) Lstat(name string) (fs.FileInfo, error) {
	at, err := native("lstat", name)
	if err != nil {
		return nil, err
	}
	return f.root.Lstat(at)
}

func (f RootFS) ReadLink(name string) (string, error) {
	at, err := native("readlink", name)
	if err != nil {
		return "", err
	}
	return f.root.Readlink(at)
}

// native refuses what would be another path in the form of this system.
func native(op, name string) (string, error) {
	if !IsName(name) || filepath.Separator != '/' && strings.ContainsRune(name, filepath.Separator) {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return filepath.FromSlash(name), nil
}
