// Package pkgtree represents the tree of a module package on disk, with its hashes.
//
// A tree is what package hashing reads: the files of a package without version control metadata.
// Its hashes are computed when they are first needed, and only once, because each call of a
// package asks for them. The caller compares them with the hashes of a lock.
package pkgtree

import (
	"sync"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pathsafe"
)

// MaxFile is the maximum size in bytes of a package's file that is hashed in a place where other
// programs may have put something else. It is far above the limit of package getmodules.
const MaxFile = 1 << 30

// Tree is the tree of a package. It is safe for concurrent use.
type Tree struct {
	*hashing.Tree
	h1, t1 func() hashing.Hash
}

// New returns a tree whose hashes have not been computed yet.
func New(tree *hashing.Tree) *Tree {
	return &Tree{tree, sync.OnceValue(tree.H1), sync.OnceValue(tree.T1)}
}

// Read reads the package in a directory. If the directory does not exist, the error wraps
// fs.ErrNotExist.
func Read(dir string) (*Tree, error) {
	root, err := pathsafe.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	tree, err := hashing.Reader{MaxFile: MaxFile}.Read(hashing.RootFS(root))
	if err != nil {
		return nil, err
	}
	return New(tree), nil
}

// H1 returns the tree's h1 hash.
func (t *Tree) H1() hashing.Hash { return t.h1() }

// T1 returns the tree's t1 hash.
func (t *Tree) T1() hashing.Hash { return t.t1() }

// Hash returns the tree's hash with a scheme, or "" for schemes that trees do not have.
func (t *Tree) Hash(scheme string) hashing.Hash {
	switch scheme {
	case "h1":
		return t.H1()
	case "t1":
		return t.T1()
	}
	return ""
}
