package cotter

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/project"
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
	found := r.installed.inspect(entry)
	if !found.intact() {
		if found.Status == StatusChanged {
			r.warn(splitKey(entry.Key), "its installed files are not what the lock says; they are replaced"+found.difference())
		}
		return nil, nil
	}
	p := r.newPlaced(entry, found.locked)
	p.now, p.whole = filepath.Join(r.work.Path(), entry.Key), found.whole
	if p.whole != "" {
		p.now = r.work.TreePath(p.whole)
	}
	return p, nil
}

// fromStore takes the package of an entry of the lock out of the cache. It is
// fs.ErrNotExist where the cache does not have it, or had it damaged.
func (r *run) fromStore(ctx context.Context, entry lockfile.Module, subdir string) (*placed, error) {
	t1 := hashOfScheme(entry, "t1")
	if t1 == "" || !r.cache.Has(t1) {
		return nil, fs.ErrNotExist
	}
	p, err := r.takeOut(ctx, entry, t1, subdir)
	if err != nil {
		return nil, err
	}
	if h1 := hashOfScheme(entry, "h1"); h1 != "" && h1 != p.tree.H1() {
		return nil, &HashMismatchError{
			Key:     entry.Key,
			Package: entry.Package,
			Want:    []hashing.Hash{h1},
			Got:     []hashing.Hash{p.tree.H1()},
		}
	}
	return p, nil
}

// stage gives a call a package that is in the cache.
func (r *run) stage(ctx context.Context, n *node, entry lockfile.Module, got *fetched) (*placed, error) {
	p, err := r.takeOut(ctx, entry, got.tree.T1(), n.subdir)
	if err != nil {
		return nil, n.fail(err)
	}
	p.gitlinks, p.leftOut = got.gitlinks, got.leftOut
	return p, nil
}

// takeOut takes a package out of the cache for a call: as a private copy where
// the module is the whole package, else as the project's own copy of the
// package, of which the call gets a part when all its modules are known.
func (r *run) takeOut(ctx context.Context, entry lockfile.Module, t1 hashing.Hash, subdir string) (p *placed, err error) {
	var tree *packageTree
	if r.peek {
		return r.peekAt(ctx, entry, t1)
	}
	if r.req.Layout == LayoutCopy || subdir == "" {
		staged := r.work.Stage(entry.Key)
		if tree, err = r.copyOut(ctx, staged, t1); err == nil {
			p = r.newPlaced(entry, tree)
			p.now, p.staged = staged, staged
		}
	} else if tree, err = r.wholePackage(ctx, t1); err == nil {
		p = r.newPlaced(entry, tree)
		p.whole, p.arrange = project.TreeName(t1), true
		p.now = r.wholePath(p.whole)
	}
	if errors.Is(err, pkgcache.ErrDamaged) {
		r.warn(splitKey(entry.Key), "its package in the cache was damaged; it was set aside")
		return nil, errors.Join(fs.ErrNotExist, err)
	}
	return p, err
}

// peekAt has the modules of a package read where they are in the cache.
func (r *run) peekAt(ctx context.Context, entry lockfile.Module, t1 hashing.Hash) (*placed, error) {
	done, err := r.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	dir := r.cache.TreePath(t1)
	tree, err := readTree(dir)
	if err != nil {
		return nil, err
	}
	p := r.newPlaced(entry, tree)
	p.now = dir
	return p, nil
}

func (r *run) newPlaced(entry lockfile.Module, tree *packageTree) *placed {
	return &placed{
		key:     entry.Key,
		entry:   entry,
		tree:    tree,
		dir:     r.req.installDir(entry.Key),
		realDir: r.req.realInstallDir(entry.Key),
		local:   isLocalPackage(entry.Package),
	}
}

// copyOut copies a tree from the cache and hashes the copy.
func (r *run) copyOut(ctx context.Context, staged string, t1 hashing.Hash) (*packageTree, error) {
	done, err := r.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	tree, err := r.cache.CopyTo(ctx, staged, t1, pkgcache.CopyOptions{ModesLost: !r.installed.keepsModes})
	if err != nil {
		return nil, err
	}
	return newPackageTree(tree), nil
}

// wholePackage makes sure that the project has the whole package with a hash, or
// has it on the stage.
func (r *run) wholePackage(ctx context.Context, t1 hashing.Hash) (*packageTree, error) {
	lock, _ := r.wholeLocks.get(t1, func() (*sync.Mutex, error) { return new(sync.Mutex), nil })
	lock.Lock()
	defer lock.Unlock()
	if tree, ok := r.wholes.Load(t1); ok {
		return tree.(*packageTree), nil
	}
	name := project.TreeName(t1)
	tree, err := r.readWhole(ctx, name)
	if err != nil || tree.T1() != t1 {
		staged := r.work.Stage("@" + name) // no call can have this name
		if tree, err = r.copyOut(ctx, staged, t1); err != nil {
			return nil, err
		}
		r.stagedWholes.Store(name, staged)
	}
	r.wholes.Store(t1, tree)
	return tree, nil
}

// wholePath is where a whole package is until the run is over.
func (r *run) wholePath(name string) string {
	if staged, ok := r.stagedWholes.Load(name); ok {
		return staged.(string)
	}
	return r.work.TreePath(name)
}

// newTrees are the staged whole packages that calls reach by links, by name.
func (r *run) newTrees(wanted map[string]bool) map[string]string {
	trees := make(map[string]string)
	r.stagedWholes.Range(func(name, staged any) bool {
		if wanted[name.(string)] {
			trees[name.(string)] = staged.(string)
		}
		return true
	})
	return trees
}

// readWhole hashes a whole package that the project may have.
func (r *run) readWhole(ctx context.Context, name string) (*packageTree, error) {
	done, err := r.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return readTree(r.work.TreePath(name))
}

func isLocalPackage(address string) bool {
	pkg, _ := splitPackage(address)
	return pkg.Getter() == "file"
}
