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

// fileState is the state of a file. A change of the file changes its state.
type fileState struct {
	Path string
	Size int64
	Mode fs.FileMode
	// Modified and Changed are times in nanoseconds. Only the system can set Changed.
	Modified, Changed int64
	Device, Inode     uint64
}

// listing lists the files of a directory without their content.
type listing struct {
	Files []fileState
	// provable reports whether the state of every file is known and there are only regular files
	// and directories.
	provable bool
	// foreign is the path of an entry that stock tools hash but hashing.Dir does not, or "".
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

// foreignError is the error for a directory with an entry that the h1 of this program does not
// cover.
type foreignError struct{ path string }

func (e *foreignError) Error() string {
	return fmt.Sprintf("it holds %q, which no provider has", e.path)
}

// hashed is the result of hashing a directory.
type hashed struct {
	h1    hashing.Hash
	files []fileState
	// read reports whether the files were read.
	read bool
}

// hashDir returns the h1 of a directory. It returns the h1 of the directory's proof, unless full
// is set or a file has changed since. Otherwise it reads all files and records a new proof.
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

// trust records a proof for a directory that this process has just written.
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
