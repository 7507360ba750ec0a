package cotter

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/workdir"
	"github.com/cotterpin/cotter/lockfile"
)

// inPlace returns the package that is installed for an entry of the lock if it
// is what the lock says, and nil if it has to be installed anew. Files that the
// module added to itself do not matter as long as they are no configuration.
func (r *run) inPlace(ctx context.Context, entry lockfile.Module) (*placed, error) {
	done, err := r.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	state := inspect(r.work, entry)
	if !state.intact() {
		if state.Status == StatusChanged {
			r.warn(splitKey(entry.Key), "its installed files are not what the lock says; they are replaced")
		}
		return nil, nil
	}
	return &placed{
		key:   entry.Key,
		entry: entry,
		tree:  state.want,
		now:   filepath.Join(r.work.Path(), entry.Key),
		dir:   r.req.installDir(entry.Key),
		kept:  true,
		local: isLocalPackage(entry.Package),
	}, nil
}

// fromStore stages the package of an entry of the lock out of the cache. It is
// fs.ErrNotExist where the cache does not have it, or had it damaged.
func (r *run) fromStore(ctx context.Context, entry lockfile.Module) (*placed, error) {
	t1 := hashOfScheme(entry, "t1")
	if t1 == "" || !r.store.Has(t1) {
		return nil, fs.ErrNotExist
	}
	p, err := r.copyOut(ctx, entry, t1)
	if err != nil {
		return nil, err
	}
	if h1 := hashOfScheme(entry, "h1"); h1 != "" && h1 != p.tree.H1() {
		return nil, &HashMismatchError{
			Package: entry.Package,
			Want:    []hashing.Hash{h1},
			Got:     []hashing.Hash{p.tree.H1()},
		}
	}
	p.kept = true
	return p, nil
}

// stage gives a call its own copy of a package that is in the cache.
func (r *run) stage(ctx context.Context, n *node, entry lockfile.Module, got *fetched) (*placed, error) {
	p, err := r.copyOut(ctx, entry, got.tree.T1())
	if err != nil {
		return nil, n.fail(err)
	}
	p.gitlinks = got.gitlinks
	return p, nil
}

// copyOut copies a tree from the cache to the stage and hashes the copy.
func (r *run) copyOut(ctx context.Context, entry lockfile.Module, t1 hashing.Hash) (*placed, error) {
	done, err := r.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	staged := r.work.Stage(entry.Key)
	tree, err := r.store.CopyTo(ctx, staged, t1)
	if errors.Is(err, store.ErrDamaged) {
		r.warn(splitKey(entry.Key), "its package in the cache was damaged; it was set aside")
		return nil, errors.Join(fs.ErrNotExist, err)
	}
	if err != nil {
		return nil, err
	}
	return &placed{
		key:    entry.Key,
		entry:  entry,
		tree:   tree,
		now:    staged,
		dir:    r.req.installDir(entry.Key),
		staged: true,
		local:  isLocalPackage(entry.Package),
	}, nil
}

func isLocalPackage(address string) bool {
	pkg, _ := splitPackage(address)
	return pkg.Getter() == "file"
}

// savedTree is the tree that an entry of the lock was made from, out of the
// sums that are kept beside the installed modules; nil where they are not kept,
// or are not those of the entry.
func (r *run) savedTree(entry lockfile.Module) *hashing.Tree { return savedTree(r.work, entry) }

func savedTree(work *workdir.Dir, entry lockfile.Module) *hashing.Tree {
	t1 := hashOfScheme(entry, "t1")
	if t1 == "" {
		return nil
	}
	text, err := work.Sums(store.FileName(t1))
	if err != nil {
		return nil
	}
	tree, err := hashing.ParseTree(text)
	if err != nil || tree.T1() != t1 {
		return nil
	}
	return tree
}
