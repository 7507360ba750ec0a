package cotter

import (
	"sync"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/opendir"
)

// packageTree is the tree of a package, whose hashes are computed once: the
// calls of one package ask for them again and again.
type packageTree struct {
	*hashing.Tree
	h1, t1 func() hashing.Hash
}

func newPackageTree(tree *hashing.Tree) *packageTree {
	return &packageTree{tree, sync.OnceValue(tree.H1), sync.OnceValue(tree.T1)}
}

// H1 is the tree's h1 hash.
func (t *packageTree) H1() hashing.Hash { return t.h1() }

// T1 is the tree's t1 hash.
func (t *packageTree) T1() hashing.Hash { return t.t1() }

// maxPackageFile bounds the files of a package that is hashed where anyone may
// have put something else, in bytes. It is far above what package getmodules
// lets pass.
const maxPackageFile = 1 << 30

// readTree hashes a package on disk.
func readTree(dir string) (*packageTree, error) {
	root, err := opendir.Root(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	tree, err := hashing.Reader{MaxFile: maxPackageFile}.Read(hashing.RootFS(root))
	if err != nil {
		return nil, err
	}
	return newPackageTree(tree), nil
}
