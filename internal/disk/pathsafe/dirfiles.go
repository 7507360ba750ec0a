package pathsafe

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// FileState is what programs need to know of an open file.
type FileState struct {
	Size int64 // in bytes
	Mode fs.FileMode
}

// listedAtOnce is the number of entries that are read at a time.
const listedAtOnce = 4096

// List returns the entries of a directory, sorted by name. Only their names and types are known: their Info must not be asked
// for, because the os package asks the system about each entry of a directory in an [os.Root]. more is called with the number
// of entries so far before some thousand others are read; its error ends the list.
func (f RootFS) List(name string, more func(n int) error) ([]fs.DirEntry, error) {
	at, err := native("open", name)
	if err != nil {
		return nil, err
	}
	dir, err := f.root.OpenFile(at, os.O_RDONLY|Nonblock, 0)
	if err != nil {
		return nil, err
	}
	if dir, err = outOfRoot(dir); err != nil {
		return nil, err
	}
	defer dir.Close()
	var list []fs.DirEntry
	for {
		if err := more(len(list)); err != nil {
			return nil, err
		}
		some, err := dir.ReadDir(listedAtOnce)
		list = append(list, some...)
		if errors.Is(err, io.EOF) {
			slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			return list, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Files returns the files of the root directory itself, which must be closed. Programs that open most files of a directory
// one after another need half as many system calls as with [os.Root].
func (f RootFS) Files() (*DirFiles, error) { return filesIn(f.root) }

// SizedReader reads a file on disk whose size is known, and so an ordinary file with one system call less: the read that
// reaches the size, and returns less than it could, is the last one, and returns io.EOF. If the file has grown, the reader
// returns more than the size.
type SizedReader struct {
	File io.Reader // an [OpenFile]
	// Left is the size of the file, and then what has not been read of it, in bytes.
	Left int64
}

func (r *SizedReader) Read(p []byte) (int, error) {
	n, err := r.File.Read(p)
	if r.Left -= int64(n); err == nil && r.Left == 0 && n < len(p) {
		err = io.EOF
	}
	return n, err
}
