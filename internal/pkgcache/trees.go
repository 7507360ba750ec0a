package pkgcache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/opendir"
	"github.com/cotterpin/cotter/internal/step"
	"github.com/cotterpin/cotter/internal/treewriter"
)

// ErrDamaged says that a tree in the cache was not what its name says. It was
// moved out of the way.
var ErrDamaged = errors.New("the cached tree does not have the hash of its name")

// UnfitError says that the file system of a copy cannot hold the tree.
type UnfitError struct {
	// Names are two paths in the tree that the file system takes for one; none
	// if something else is the matter.
	Names []string
	// Err is why the copy failed, if that is known.
	Err error
}

func (e *UnfitError) Error() string {
	if len(e.Names) == 2 {
		return fmt.Sprintf("the file system cannot tell %q from %q", e.Names[0], e.Names[1])
	}
	if e.Err != nil {
		return fmt.Sprintf("the file system cannot hold the package: %s", e.Err)
	}
	return "the copy differs from the package: another program changes it, or the file system cannot hold the package"
}

func (e *UnfitError) Unwrap() error { return e.Err }

// CopyOptions say what to expect of the file system of a copy.
type CopyOptions struct {
	// ModesLost says that it does not keep executable bits.
	ModesLost bool
}

// CopyTo copies the tree with this hash to dst, which must not exist, and
// hashes what it wrote. A tree that is absent is fs.ErrNotExist; one that is
// damaged goes to quarantine and is [ErrDamaged]. A copy that is not the tree,
// though the tree is what its name says, is an *[UnfitError]. Nothing is left at
// dst after an error.
func (c *Cache) CopyTo(ctx context.Context, dst string, t1 hashing.Hash, opts CopyOptions) (*hashing.Tree, error) {
	name := FileName(t1)
	if !c.use(name) {
		return nil, &fs.PathError{Op: "open", Path: c.treePath(name), Err: fs.ErrNotExist}
	}
	root, err := opendir.Root(c.treePath(name))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	tree, err := copyTree(ctx, dst, root.FS())
	if err == nil && opts.ModesLost {
		var original *hashing.Tree
		if original, err = c.read(name); err == nil {
			tree = tree.WithModesOf(original)
		}
	}
	if err == nil && tree.T1() == t1 {
		markUsed(c.treePath(name))
		return tree, nil
	}
	removeErr := os.RemoveAll(dst)
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), removeErr)
	}
	original, readErr := c.read(name)
	if readErr != nil {
		return nil, errors.Join(readErr, removeErr)
	}
	return nil, errors.Join(&UnfitError{Names: sameButForCase(original), Err: err}, removeErr)
}

// sameButForCase returns two paths of a tree that differ only in case, if the
// tree has such.
func sameButForCase(tree *hashing.Tree) []string {
	seen := make(map[string]string)
	for _, entry := range tree.Entries {
		folded := strings.ToLower(entry.Path)
		if other, ok := seen[folded]; ok {
			return []string{other, entry.Path}
		}
		seen[folded] = entry.Path
	}
	return nil
}

func copyTree(ctx context.Context, dst string, src fs.FS) (*hashing.Tree, error) {
	err := step.Do("project.package.copy", func() error {
		return treewriter.CopyTree(ctx, dst, src, treewriter.CopyOptions{})
	})
	if err != nil {
		return nil, err
	}
	copied, err := opendir.Root(dst)
	if err != nil {
		return nil, err
	}
	defer copied.Close()
	return hashing.ReadTree(hashing.RootFS(copied))
}

// Read hashes a published tree where it is, and holds it. A tree that is absent
// is fs.ErrNotExist; one that is damaged goes to quarantine and is [ErrDamaged].
func (c *Cache) Read(t1 hashing.Hash) (*hashing.Tree, error) {
	tree, err := c.read(FileName(t1))
	if err == nil {
		markUsed(c.TreePath(t1))
	}
	return tree, err
}

// Check is [Cache.Read] by the name that is made of the hash.
func (c *Cache) Check(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := c.read(name)
	return err
}

// maxFile bounds the files of a tree, in bytes: far above what package getmodules
// lets pass. A tree with a larger one is damaged.
const maxFile = 1 << 30

func (c *Cache) read(name string) (*hashing.Tree, error) {
	path := c.treePath(name)
	if !c.use(name) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	root, err := opendir.Root(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	tree, err := hashing.Reader{MaxFile: maxFile}.Read(hashing.RootFS(root))
	switch {
	case err == nil && FileName(tree.T1()) == name:
		return tree, nil
	case err != nil && !isDamage(err):
		return nil, err
	}
	return nil, errors.Join(ErrDamaged, c.quarantine(name))
}

// isDamage reports whether reading failed for what the tree holds rather than
// for what the machine could not do.
func isDamage(err error) bool {
	var badTree *hashing.TreeError
	var failed *fs.PathError
	return errors.As(err, &badTree) && !errors.As(err, &failed) || errors.Is(err, fs.ErrNotExist)
}
