package installed

import (
	"context"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/lockfile"
)

// sumsMemo reads the per-file sums that a run has saved with its packages, each once.
type sumsMemo struct {
	// read returns the sums with a name.
	read func(name string) ([]byte, error)

	trees singleflight.Memo[hashing.Hash, *pkgtree.Tree]
}

// lockedTree returns the tree from which an entry of the lock was made, or nil if there are no
// sums or they do not match the entry.
func (m *sumsMemo) lockedTree(entry lockfile.Module) *pkgtree.Tree {
	t1 := entry.Hash("t1")
	if t1 == "" {
		return nil
	}
	tree, err := m.trees.Do(context.Background(), t1, func(context.Context) (*pkgtree.Tree, error) {
		text, err := m.read(pkgcache.FileName(t1))
		if err != nil {
			return nil, err
		}
		tree, err := hashing.ParseTree(text)
		if err != nil {
			return nil, err
		}
		return pkgtree.New(tree), nil
	})
	if err != nil || tree.T1() != t1 {
		return nil
	}
	if h1 := entry.Hash("h1"); h1 != "" && h1 != tree.H1() {
		return nil // the entry contradicts itself
	}
	return tree
}
