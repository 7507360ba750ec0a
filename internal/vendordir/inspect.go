package vendordir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/installed"
	"github.com/cotterpin/cotter/internal/opendir"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
)

// maxSums is the maximum size of a package's sums in bytes. Package project has the same limit.
const maxSums = 64 << 20

// Inspect compares the package of an entry's call with the entry. It reads every file once in the
// lifetime of a Dir. Added files count as a change, unlike in an installed package, because only
// the author of a commit can have added them.
func (d *Dir) Inspect(entry lockfile.Module) installed.Report {
	locked := d.LockedTree(entry)
	tree, err := d.trees.Do(context.Background(), entry.Key, func(context.Context) (*store.Tree, error) {
		return d.read(entry.Key)
	})
	if _, absent := os.Lstat(d.PackagePath(entry.Key)); err != nil && errors.Is(absent, fs.ErrNotExist) {
		return installed.Report{Status: installed.Missing}
	}
	if err != nil {
		return installed.Report{Status: installed.Changed, Err: err, Changes: changesDespite(err, locked)}
	}
	if !d.KeepsModes() && locked != nil {
		tree = store.NewTree(tree.WithModesOf(locked.Tree))
	}
	return compare(entry, tree, locked)
}

// read hashes the package of a call, which must be a directory and not a link to one.
func (d *Dir) read(key string) (*store.Tree, error) {
	info, err := os.Lstat(d.PackagePath(key))
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &PlaceError{d.PackageDir(key), "is not a directory"}
	}
	return store.ReadTree(d.PackagePath(key))
}

// compare compares a package with its entry by the hashes. If they differ and the locked files
// are known, it compares the files.
func compare(entry lockfile.Module, tree, locked *store.Tree) installed.Report {
	report := installed.Report{Status: installed.Changed, Tree: tree, Files: tree}
	if report.CompareHashes(entry, tree) {
		report.Status = installed.Verified
		return report
	}
	if locked == nil {
		return report
	}
	report.Changes = hashing.Diff(withoutEmptyDirs(locked.Tree), withoutEmptyDirs(tree.Tree))
	if report.Changes.Empty() {
		report.Status, report.Tree = installed.Verified, locked
	}
	return report
}

// withoutEmptyDirs returns a tree without its empty directories, which git does not keep.
func withoutEmptyDirs(tree *hashing.Tree) *hashing.Tree {
	isEmptyDir := func(e hashing.Entry) bool { return e.Kind == hashing.EmptyDir }
	if !slices.ContainsFunc(tree.Entries, isEmptyDir) {
		return tree
	}
	return &hashing.Tree{Entries: slices.DeleteFunc(slices.Clone(tree.Entries), isEmptyDir)}
}

// changesDespite compares the files of a package that cannot be hashed because of its links.
func changesDespite(err error, locked *store.Tree) hashing.Changes {
	var bad *hashing.TreeError
	if !errors.As(err, &bad) || bad.Listed == nil || locked == nil {
		return hashing.Changes{}
	}
	return hashing.Diff(withoutEmptyDirs(locked.Tree), withoutEmptyDirs(bad.Listed))
}

// LockedTree returns the tree from which an entry of the lock was made. It reads the sums in the
// directory, and returns nil if there are none or they do not match the entry.
func (d *Dir) LockedTree(entry lockfile.Module) *store.Tree {
	t1 := entry.Hash("t1")
	if t1 == "" {
		return nil
	}
	tree, err := d.sums.Do(context.Background(), t1, func(context.Context) (*store.Tree, error) {
		return d.readSums(t1)
	})
	if err != nil || tree.T1() != t1 {
		return nil
	}
	if h1 := entry.Hash("h1"); h1 != "" && h1 != tree.H1() {
		return nil // the entry contradicts itself
	}
	return tree
}

func (d *Dir) readSums(t1 hashing.Hash) (*store.Tree, error) {
	own, err := d.openOwn()
	if err != nil {
		return nil, err
	}
	defer own.Close()
	text, err := atomicfile.Read(own, sumsName+"/"+store.FileName(t1), maxSums)
	if err != nil {
		return nil, err
	}
	tree, err := hashing.ParseTree(text)
	if err != nil {
		return nil, err
	}
	return store.NewTree(tree), nil
}

// openOwn opens .cotter, which must be a directory and not a link to one.
func (d *Dir) openOwn() (*os.Root, error) {
	name := filepath.Join(d.path, ownName)
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", name)
	}
	return opendir.Root(name)
}
