package providerstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/providerzip"
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
	// provable reports whether the state of every file is known, there are only regular files and
	// directories, this user owns them, and no other user may write to the files.
	provable bool
	// foreign is the path of an entry that stock tools hash but hashing.Dir does not, or "".
	foreign string
}

func (l listing) equal(other listing) bool {
	return l.provable && other.provable && slices.Equal(l.Files, other.Files)
}

// The limits of a directory; see [providerzip.Limits].
var (
	errLargeFile = errors.New("the file exceeds the size limit for files of providers")
	errLargeTree = errors.New("the directory exceeds the size limit for providers")
	errTooMany   = errors.New("the directory has more entries than a provider may have")
)

// list lists a directory. A directory that exceeds the limits of packages is an error, before
// anything in it is read.
func list(ctx context.Context, root *os.Root) (listing, error) {
	l, limits := listing{provable: true}, providerzip.Limits()
	entries, size := 0, int64(0)
	err := fs.WalkDir(hashing.RootFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || name == "." {
			return err
		}
		if entries++; entries > limits.Entries {
			return &hashing.TreeError{Path: name, Err: errTooMany}
		}
		if pathsafe.IsMetadata(path.Base(name)) && l.foreign == "" {
			l.foreign = name
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		l.provable = l.provable && isPrivate(info)
		if d.IsDir() {
			return nil
		}
		size += info.Size()
		switch {
		case info.Size() > limits.FileBytes:
			return &hashing.TreeError{Path: name, Err: errLargeFile}
		case size > limits.TreeBytes:
			return &hashing.TreeError{Path: name, Err: errLargeTree}
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

// isPrivate reports whether this user owns an entry and, if it is a file, no other user may write
// to it. Another user could change a file without a change of its times, through memory that was
// mapped before.
func isPrivate(info fs.FileInfo) bool {
	return isOwn(info) && (info.IsDir() || info.Mode()&0o022 == 0)
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

// hashOptions are the options of hashDir.
type hashOptions struct {
	// full ignores the proof of the directory.
	full bool
	// inProject says that the directory is a project's own, and not reached through a link.
	inProject bool
}

// hashDir returns the h1 of a directory. It returns the h1 of the directory's proof, unless full
// is set or a file has changed since. Otherwise it reads all files and records a new proof. There
// are no proofs of directories outside of the store and the project.
func (s *Store) hashDir(ctx context.Context, dir string, options hashOptions) (hashed, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return hashed{}, err
	}
	root, err := pathsafe.OpenRoot(dir)
	if err != nil {
		return hashed{}, err
	}
	defer root.Close()
	before, err := list(ctx, root)
	if err != nil {
		return hashed{}, err
	}
	before.provable = before.provable && (options.inProject || s.isStored(dir))
	if before.foreign != "" {
		return hashed{}, &foreignError{before.foreign}
	}
	if !options.full {
		if proof, ok := s.proof(dir); ok && before.equal(listing{Files: proof.Files, provable: true}) {
			return hashed{h1: proof.H1, files: before.Files}, nil
		}
	}
	tree, err := providerzip.ReadRoot(ctx, root)
	if err != nil {
		return hashed{}, err
	}
	after, err := list(ctx, root)
	if err != nil {
		return hashed{}, err
	}
	if before.equal(after) {
		s.prove(dir, proof{H1: tree.H1(), Files: after.Files})
	}
	return hashed{h1: tree.H1(), files: after.Files, read: true}, nil
}

// isStored reports whether a directory, whose path must not contain links, is in the store.
func (s *Store) isStored(dir string) bool {
	if s.dir == "" {
		return false
	}
	packages, err := filepath.EvalSymlinks(filepath.Join(s.dir, packagesName))
	return err == nil && filepath.Dir(dir) == packages
}

// trust records a proof for a directory in the store or in a project that this process has just
// written.
func (s *Store) trust(dir string, h1 hashing.Hash) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return
	}
	root, err := pathsafe.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	if l, err := list(context.Background(), root); err == nil && l.provable {
		s.prove(dir, proof{H1: h1, Files: l.Files})
	}
}
