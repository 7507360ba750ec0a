package pathsafe

import (
	"io/fs"
	"os"
)

// FileState is what programs need to know of an open file.
type FileState struct {
	Size int64 // in bytes
	Mode fs.FileMode
}

// List opens a directory of which only the names and the types of the entries matter: their Info must not be asked for. The
// os package asks the system about each entry of a directory in an [os.Root].
func (f RootFS) List(name string) (*os.File, error) {
	at, err := native("open", name)
	if err != nil {
		return nil, err
	}
	dir, err := f.root.OpenFile(at, os.O_RDONLY|Nonblock, 0)
	if err != nil {
		return nil, err
	}
	return outOfRoot(dir)
}

// Files returns the files of the root directory itself, which must be closed. Programs that open most files of a directory
// one after another need half as many system calls as with [os.Root].
func (f RootFS) Files() (*DirFiles, error) { return filesIn(f.root) }
