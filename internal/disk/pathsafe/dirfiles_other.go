//go:build !linux

package pathsafe

import (
	"io/fs"
	"os"
	"strings"
)

// DirFiles are the files of an open directory.
type DirFiles struct{ root *os.Root }

// OpenFile is an open file.
type OpenFile struct{ *os.File }

func filesIn(root *os.Root) (*DirFiles, error) {
	own, err := root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return &DirFiles{own}, nil
}

func outOfRoot(dir *os.File) (*os.File, error) { return dir, nil }

func (d *DirFiles) Close() error { return d.root.Close() }

// Open opens a file of the directory itself for reading. It does not wait for the writer of a named pipe.
func (d *DirFiles) Open(name string) (*OpenFile, error) {
	return d.open(name, os.O_RDONLY|Nonblock|NoFollow, 0)
}

// Create creates a new file in the directory itself, for writing and reading.
func (d *DirFiles) Create(name string, mode fs.FileMode) (*OpenFile, error) {
	return d.open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|Nonblock, mode)
}

func (d *DirFiles) open(name string, flags int, mode fs.FileMode) (*OpenFile, error) {
	at, err := native("open", name)
	if err != nil || strings.Contains(name, "/") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	file, err := d.root.OpenFile(at, flags, mode)
	if err != nil {
		return nil, err
	}
	return &OpenFile{file}, nil
}

// OSFile returns the same file for what only the os package can do. It is closed with f.
func (f *OpenFile) OSFile() *os.File { return f.File }

func (f *OpenFile) Stat() (FileState, error) {
	info, err := f.File.Stat()
	if err != nil {
		return FileState{}, err
	}
	return FileState{info.Size(), info.Mode()}, nil
}
