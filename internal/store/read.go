package store

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/hashing"
)

// Read hashes a published tree where it is. A tree that is absent is
// fs.ErrNotExist; one that is damaged goes to quarantine and is [ErrDamaged].
func (s Store) Read(t1 hashing.Hash) (*hashing.Tree, error) {
	tree, err := s.read(FileName(t1))
	if err == nil {
		markUsed(s.TreePath(t1))
	}
	return tree, err
}

// read is Read by the name that is made of the hash.
func (s Store) read(name string) (*hashing.Tree, error) {
	path := filepath.Join(s.Dir, "tree", name)
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	tree, err := hashing.ReadTree(hashing.RootFS(root))
	switch {
	case err == nil && FileName(tree.T1()) == name:
		return tree, nil
	case err != nil && !damages(err):
		return nil, err
	}
	return nil, errors.Join(ErrDamaged, s.quarantine(path))
}
