package pathsafe

import "io/fs"

// FileState is what programs need to know of an open file.
type FileState struct {
	Size int64 // in bytes
	Mode fs.FileMode
}

// Files returns the files of the root directory itself, which must be closed. Programs that open most files of a directory
// one after another need half as many system calls as with [os.Root].
func (f RootFS) Files() (*DirFiles, error) { return filesIn(f.root) }
