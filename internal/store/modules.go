package store

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/store/userkey"
)

// moduleKind takes any name for that of a package, because no other program writes there. Files keep their
// modes, which the hash covers.
var moduleKind = kind{
	packages: "tree",
	records:  []string{fetchName, confirmedName},
	steps:    "cache",
}

// Modules are the packages of modules in a user's cache. It must be closed.
type Modules struct {
	packages
	// Limits are for copies of packages, which may have been fetched by a run with higher ones.
	Limits treewriter.Limits
	trees  sync.Map // of weak.Pointer[Tree], by their t1 hash
}

// Same returns the tree with the same t1 hash that is in use already, or else the tree itself: the tree of a package and
// those of its copies, with a path and a sum for each file, are in memory once.
func (m *Modules) Same(tree *Tree) *Tree {
	for {
		found, isKnown := m.trees.LoadOrStore(tree.T1(), weak.Make(tree))
		if !isKnown {
			return tree
		}
		if known := found.(weak.Pointer[Tree]).Value(); known != nil {
			return known
		}
		m.trees.CompareAndDelete(tree.T1(), found)
	}
}

// OpenModules opens, and creates, the cache at dir. It fails if that is not writable (read-only, full,
// another user's), so that an installation does not fail midway.
func OpenModules(dir string, key *userkey.Key) (*Modules, error) {
	m := ViewModules(dir, key)
	if err := m.create(); err != nil {
		return nil, err
	}
	if err := m.probe(); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// ViewModules opens the cache for reading, and changes nothing. dir may be "".
func ViewModules(dir string, key *userkey.Key) *Modules {
	return &Modules{packages: packages{kind: moduleKind, dir: dir, key: key}}
}

// probe finds out whether the disk is full.
func (m *Modules) probe() error {
	name := m.Stage()
	err := atomicfile.Step("cache.stage.probe", func() error { return os.WriteFile(name, make([]byte, 4096), 0o600) })
	return errors.Join(err, os.Remove(name))
}

func (m *Modules) Dir() string { return m.dir }

// StageDir is used by no other process until Close.
func (m *Modules) StageDir() string { return m.stage.dir }

// Stage returns a new path for a tree, on the file system of the published ones.
func (m *Modules) Stage() string { return m.stage.newPath() }

// FileName has the scheme and the value in hexadecimal: base64 has slashes, and names that differ only in
// case.
func FileName(h hashing.Hash) string {
	scheme, value, _ := strings.Cut(string(h), ":")
	raw, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		raw = []byte(value)
	}
	return fmt.Sprintf("%s-%s", scheme, hex.EncodeToString(raw))
}

// TreePath is that of a tree that need not exist and was not compared; see [Modules.CopyTo].
func (m *Modules) TreePath(t1 hashing.Hash) string { return m.path(FileName(t1)) }

// Has reports whether a tree is published. Then no process removes it until the cache is closed.
func (m *Modules) Has(t1 hashing.Hash) bool { return m.use(FileName(t1)) }

// Publish renames the tree at staged, which was hashed, and locks it until the cache is closed.
// If it is already published, the staged one is removed: readers compare the content.
func (m *Modules) Publish(staged string, t1 hashing.Hash) error {
	_, err := m.publish(staged, FileName(t1), func() bool { return m.Has(t1) })
	return err
}

// Read hashes a published tree and locks it until the cache is closed. The error wraps fs.ErrNotExist, or
// [ErrDamaged] after moving the tree to quarantine.
func (m *Modules) Read(ctx context.Context, t1 hashing.Hash) (*Tree, error) {
	name := FileName(t1)
	tree, err := m.readTree(ctx, name)
	if err != nil {
		return nil, err
	}
	m.markUsed(name)
	return m.Same(tree), nil
}

// Check is [Modules.Read] by name.
func (m *Modules) Check(ctx context.Context, name string) error {
	_, err := m.readTree(ctx, name)
	return err
}

func (m *Modules) readTree(ctx context.Context, name string) (*Tree, error) {
	var tree *Tree
	err := m.check(name, func(dir string) (_ string, err error) {
		if tree, err = ReadTree(ctx, dir); err != nil {
			return "", err
		}
		return FileName(tree.T1()), nil
	})
	if err != nil {
		return nil, err
	}
	return tree, nil
}

// Forget removes the answers and confirmations that were last used before a time.
func (m *Modules) Forget(before time.Time) error {
	return errors.Join(m.forget(fetchName, before, nil), m.forget(confirmedName, before, nil))
}

// UnfitError says that the target file system cannot store the tree.
type UnfitError struct {
	// Names are two paths that the file system does not distinguish, if that is the reason.
	Names []string
	Err   error
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

// CopyTo copies a tree to a name in an open directory, which must not exist and does not exist after an error, and hashes
// the copy.
// modesLost says that the target file system has no executable bits. The error is as of [Modules.Read], an
// *[UnfitError] if only the copy differs, or wraps a *[packagelimits.Error].
func (m *Modules) CopyTo(ctx context.Context, parent *os.Root, dst string, t1 hashing.Hash, modesLost bool) (*Tree, error) {
	for {
		tree, err := m.copyOnce(ctx, parent, dst, t1, modesLost)
		if !errors.Is(err, errReplaced) {
			return tree, err
		}
	}
}

// errReplaced says that another process or goroutine has found the tree damaged, and fetched it again.
var errReplaced = errors.New("the stored tree was replaced")

func (m *Modules) copyOnce(ctx context.Context, parent *os.Root, dst string, t1 hashing.Hash, modesLost bool) (*Tree, error) {
	name, path := FileName(t1), m.TreePath(t1)
	if !m.use(name) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	root, err := pathsafe.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	tree, err := m.copyTree(ctx, parent, dst, pathsafe.FS(root))
	if err == nil && modesLost {
		var original *Tree
		if original, err = m.readTree(ctx, name); err == nil {
			tree = NewTree(tree.WithModesOf(original.Tree))
		}
	}
	if err == nil && tree.T1() == t1 {
		m.markUsed(name)
		return m.Same(tree), nil
	}
	removeErr := atomicfile.RemoveAllIn(parent, dst)
	over, isOver := errors.AsType[*packagelimits.Error](err)
	if isOver && over.Limit == packagelimits.OfRun {
		return nil, errors.Join(err, removeErr)
	}
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), removeErr)
	}
	original, readErr := m.readTree(ctx, name)
	if readErr != nil {
		return nil, errors.Join(readErr, removeErr)
	}
	if !isAt(root, path) {
		return nil, errors.Join(errReplaced, removeErr)
	}
	if isOver { // and the package is undamaged
		return nil, errors.Join(err, removeErr)
	}
	return nil, errors.Join(&UnfitError{Names: sameButForCase(original), Err: err}, removeErr)
}

func isAt(root *os.Root, path string) bool {
	opened, err := root.Stat(".")
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(opened, now)
}

func sameButForCase(tree *Tree) []string {
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

func (m *Modules) copyTree(ctx context.Context, parent *os.Root, dst string, src fs.FS) (*Tree, error) {
	var tree *hashing.Tree
	err := atomicfile.Step("project.package.copy", func() (err error) {
		tree, err = treewriter.CopyTree(ctx, parent, dst, src, m.Limits)
		return err
	})
	if err != nil {
		return nil, err
	}
	if tree != nil {
		return NewTree(tree), nil
	}
	copied, err := parent.OpenRoot(dst)
	if err != nil {
		return nil, err
	}
	defer copied.Close()
	read, err := hashing.ReadTree(ctx, hashing.RootFS(copied))
	if err != nil {
		return nil, err
	}
	return NewTree(read), nil
}
