package providerstore

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/opendir"
	"github.com/cotterpin/cotter/internal/pathsafe"
)

// fileState is the state of a file by which a change of it is noticed.
type fileState struct {
	Path string
	Size int64
	Mode fs.FileMode
	// Modified and Changed are times in nanoseconds. Only the system sets the latter.
	Modified, Changed int64
	Device, Inode     uint64
}

// listing is what a directory holds, without the content of files.
type listing struct {
	Files []fileState
	// provable says that the state of every file is known, and that nothing but files
	// and directories is there.
	provable bool
	// foreign is the path of something that stock tools hash and hashing.Dir does
	// not; "" means none.
	foreign string
}

func (l listing) equal(other listing) bool {
	return l.provable && other.provable && slices.Equal(l.Files, other.Files)
}

// list lists a directory.
func list(root *os.Root) (listing, error) {
	l := listing{provable: true}
	err := fs.WalkDir(hashing.RootFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if pathsafe.IsMetadata(path.Base(name)) && l.foreign == "" {
			l.foreign = name
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		state, ok := stateOf(info)
		if !ok || !info.Mode().IsRegular() {
			l.provable = false
		}
		state.Path, state.Size, state.Mode, state.Modified = name, info.Size(), info.Mode(), info.ModTime().UnixNano()
		l.Files = append(l.Files, state)
		return nil
	})
	return l, err
}

// foreignError is the error for a directory with an entry that no h1 of this program
// covers.
type foreignError struct{ path string }

func (e *foreignError) Error() string {
	return fmt.Sprintf("it holds %q, which no provider has", e.path)
}

// hashed is a directory whose hash is known.
type hashed struct {
	h1    hashing.Hash
	files []fileState
	// read says that the files were read.
	read bool
}

// hashDir returns the h1 of a directory: that of its proof, unless full is set or a file
// has changed since, or else that of all files, which are then proven.
func (s *Store) hashDir(dir string, full bool) (hashed, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return hashed{}, err
	}
	root, err := opendir.Root(dir)
	if err != nil {
		return hashed{}, err
	}
	defer root.Close()
	before, err := list(root)
	if err != nil {
		return hashed{}, err
	}
	if before.foreign != "" {
		return hashed{}, &foreignError{before.foreign}
	}
	if !full {
		if proof, ok := s.proof(dir); ok && before.equal(listing{Files: proof.Files, provable: true}) {
			return hashed{h1: proof.H1, files: before.Files}, nil
		}
	}
	h1, err := hashing.FS(hashing.RootFS(root))
	if err != nil {
		return hashed{}, err
	}
	after, err := list(root)
	if err != nil {
		return hashed{}, err
	}
	if before.equal(after) {
		s.prove(dir, proof{H1: h1, Files: after.Files})
	}
	return hashed{h1: h1, files: after.Files, read: true}, nil
}

// trust records the hash of a directory that was just written by this process.
func (s *Store) trust(dir string, h1 hashing.Hash) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return
	}
	root, err := opendir.Root(dir)
	if err != nil {
		return
	}
	defer root.Close()
	if l, err := list(root); err == nil && l.provable {
		s.prove(dir, proof{H1: h1, Files: l.Files})
	}
}
