package store

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
	"github.com/cotterpin/cotter/internal/disk/filelock"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/disk/providerzip"
)

type fileState struct {
	Path string
	Size int64
	Mode fs.FileMode
	// These are in nanoseconds. Only the system can set Changed.
	Modified, Changed int64
	Device, Inode     uint64
}

type listing struct {
	Files []fileState
	// provable says that the state of every file is known, and that there are only regular files and
	// directories, of this user, to whose files no other user may write.
	provable bool
	// uncovered is an entry that stock tools hash but hashing.Dir does not, or "".
	uncovered string
}

func (l listing) equal(other listing) bool {
	return l.provable && other.provable && slices.Equal(l.Files, other.Files)
}

// Limits of a directory: [providerzip.Limits].
var (
	errLargeFile = errors.New("the file exceeds the size limit for files of providers")
	errLargeTree = errors.New("the directory exceeds the size limit for providers")
	errTooMany   = errors.New("the directory has more entries than a provider may have")
)

// list refuses a directory that exceeds the limits of packages before it reads anything in it.
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
		if pathsafe.IsMetadata(path.Base(name)) && l.uncovered == "" {
			l.uncovered = name
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

// isPrivate requires this user as the owner, and that no other may write to a file: another could change it
// without a change of its times, through memory that was mapped before.
func isPrivate(info fs.FileInfo) bool {
	return isOwn(info) && (info.IsDir() || info.Mode()&0o022 == 0)
}

type uncoveredError struct{ path string }

func (e *uncoveredError) Error() string {
	return fmt.Sprintf("it holds %q, which no provider has", e.path)
}

const proofName = "proof"

type proof struct {
	// Boot is the boot of the system during which the files were hashed.
	Boot  string
	H1    hashing.Hash
	Files []fileState
}

func (s *Providers) readProof(dir string) (proof, bool) {
	var p proof
	ok := s.recall(proofName, dir, &p)
	return p, ok && p.Boot != "" && p.Boot == filelock.Boot()
}

func (s *Providers) writeProof(dir string, p proof) {
	if p.Boot = filelock.Boot(); p.Boot != "" {
		s.remember(proofName, dir, p)
	}
}

// full ignores the proof, and inProject says that the directory is a project's own, not reached through a
// link.
type hashOptions struct{ full, inProject bool }

// hashDir returns the h1 of a directory's proof, unless full is set or a file has changed since; otherwise
// it reads all files and records a proof. Only directories in the store and the project have one.
func (s *Providers) hashDir(ctx context.Context, dir string, options hashOptions) (hashing.Hash, listing, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", listing{}, err
	}
	root, err := pathsafe.OpenRoot(dir)
	if err != nil {
		return "", listing{}, err
	}
	defer root.Close()
	before, err := list(ctx, root)
	if err != nil {
		return "", listing{}, err
	}
	before.provable = before.provable && (options.inProject || s.isStored(dir))
	if before.uncovered != "" {
		return "", listing{}, &uncoveredError{before.uncovered}
	}
	if !options.full {
		if proof, ok := s.readProof(dir); ok && before.equal(listing{Files: proof.Files, provable: true}) {
			return proof.H1, before, nil
		}
	}
	tree, err := providerzip.ReadRoot(ctx, root)
	if err != nil {
		return "", listing{}, err
	}
	after, err := list(ctx, root)
	if err != nil {
		return "", listing{}, err
	}
	if before.equal(after) {
		s.writeProof(dir, proof{H1: tree.H1(), Files: after.Files})
	}
	after.provable = before.provable && after.provable
	return tree.H1(), after, nil
}

func (s *Providers) isStored(dir string) bool {
	if s.dir == "" {
		return false
	}
	packages, err := filepath.EvalSymlinks(filepath.Join(s.dir, s.kind.packages))
	return err == nil && filepath.Dir(dir) == packages
}

// provePublished is proveWritten for a package of the store.
func (s *Providers) provePublished(name string, h1 hashing.Hash) {
	root, err := pathsafe.OpenRoot(s.path(name))
	if err != nil {
		return
	}
	defer root.Close()
	s.proveWritten(s.path(name), root, h1)
}

// proveWritten records a proof for a directory that this process has just written, and opened by itself: another process
// may have put something else at its path.
func (s *Providers) proveWritten(dir string, root *os.Root, h1 hashing.Hash) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return
	}
	if l, err := list(context.Background(), root); err == nil && l.provable {
		s.writeProof(dir, proof{H1: h1, Files: l.Files})
	}
}
