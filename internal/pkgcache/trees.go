package pkgcache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/dirstore"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/step"
	"github.com/cotterpin/cotter/internal/treewriter"
)

// ErrDamaged is returned if the hash of a tree in the cache differs from its name. The tree has
// been moved to quarantine.
var ErrDamaged = errors.New("the cached tree does not have the hash of its name")

// UnfitError is returned if the target file system cannot store the tree.
type UnfitError struct {
	// Names are two paths in the tree that the file system does not distinguish. It is nil if the
	// copy failed for another reason.
	Names []string
	// Err is the reason why the copy failed, or nil if it is not known.
	Err error
}

func (e *UnfitError) Error() string {
	if len(e.Names) == 2 {
		return fmt.Sprintf("the file system does not distinguish %q from %q", e.Names[0], e.Names[1])
	}
	if e.Err != nil {
		return fmt.Sprintf("the file system cannot hold the package: %s", e.Err)
	}
	return "the copy differs from the package: another program changes it, or the file system cannot hold the package"
}

func (e *UnfitError) Unwrap() error { return e.Err }

// CopyOptions describes the target file system of a copy.
type CopyOptions struct {
	// ModesLost is set if the file system does not store executable bits.
	ModesLost bool
}

// CopyTo copies the tree with this hash to dst, which must not exist, and hashes the copy. If the
// tree does not exist, the error wraps fs.ErrNotExist. If the tree is damaged, CopyTo moves it to
// quarantine, and the error wraps [ErrDamaged]. If only the copy differs, the error is an
// *[UnfitError]. After an error dst does not exist.
func (c *Cache) CopyTo(ctx context.Context, dst string, t1 hashing.Hash, opts CopyOptions) (*hashing.Tree, error) {
	for {
		tree, err := c.copyOnce(ctx, dst, t1, opts)
		if !errors.Is(err, errReplaced) {
			return tree, err
		}
	}
}

// errReplaced says that the tree was replaced while it was copied. That happens if it was damaged
// and somebody else has noticed and fetched the package again.
var errReplaced = errors.New("the cached tree was replaced")

// copyOnce is CopyTo for a tree that nobody else replaces; otherwise it returns errReplaced.
func (c *Cache) copyOnce(ctx context.Context, dst string, t1 hashing.Hash, opts CopyOptions) (*hashing.Tree, error) {
	name := FileName(t1)
	if !c.inUse.Use(c.treePath(name)) {
		return nil, &fs.PathError{Op: "open", Path: c.treePath(name), Err: fs.ErrNotExist}
	}
	root, err := pathsafe.OpenRoot(c.treePath(name))
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
		dirstore.MarkUsed(c.treePath(name))
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
	if !isAt(root, c.treePath(name)) {
		return nil, errors.Join(errReplaced, removeErr)
	}
	return nil, errors.Join(&UnfitError{Names: sameButForCase(original), Err: err}, removeErr)
}

// isAt reports whether an open directory is still the one at path.
func isAt(root *os.Root, path string) bool {
	opened, err := root.Stat(".")
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(opened, now)
}

// sameButForCase returns two paths of a tree that differ only in case, or nil.
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
	copied, err := pathsafe.OpenRoot(dst)
	if err != nil {
		return nil, err
	}
	defer copied.Close()
	return hashing.ReadTree(hashing.RootFS(copied))
}

// Read hashes a published tree in place and locks it until the cache is closed. If the tree does
// not exist, the error wraps fs.ErrNotExist. If it is damaged, Read moves it to quarantine, and
// the error wraps [ErrDamaged].
func (c *Cache) Read(t1 hashing.Hash) (*hashing.Tree, error) {
	tree, err := c.read(FileName(t1))
	if err == nil {
		dirstore.MarkUsed(c.TreePath(t1))
	}
	return tree, err
}

// Check is like [Cache.Read], but takes the file name of the tree and returns only the error.
func (c *Cache) Check(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := c.read(name)
	return err
}

// maxFile is the maximum size of a file in a tree in bytes, far above the limit of package
// getmodules. A tree with a larger file is damaged.
const maxFile = 1 << 30

func (c *Cache) read(name string) (*hashing.Tree, error) {
	path := c.treePath(name)
	if !c.inUse.Use(c.treePath(name)) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	root, err := pathsafe.OpenRoot(path)
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

// isDamage reports whether reading failed because of the content of the tree, and not because of
// the system.
func isDamage(err error) bool {
	var badTree *hashing.TreeError
	var failed *fs.PathError
	return errors.As(err, &badTree) && !errors.As(err, &failed) || errors.Is(err, fs.ErrNotExist)
}
