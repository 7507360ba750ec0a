package packagedir

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
)

// Vendored are the packages in a project's directory of vendored ones. It is safe for concurrent use.
type Vendored struct {
	dir *project.VendorDir

	trees singleflight.Memo[string, *store.Tree]
	sums  sumsMemo
}

// NewVendored reads nothing.
func NewVendored(dir *project.VendorDir) *Vendored {
	return &Vendored{dir: dir, sums: sumsMemo{read: dir.Sums}}
}

// Inspect reads every file once. Added files count as a change, unlike in an installed package, because
// only the author of a commit can have added them. If ctx ends, the report is not complete.
func (v *Vendored) Inspect(ctx context.Context, entry lockfile.Module) Report {
	tree, err := v.trees.Do(ctx, entry.Key, func(ctx context.Context) (*store.Tree, error) {
		return v.read(ctx, entry.Key)
	})
	if _, absent := os.Lstat(v.dir.PackagePath(entry.Key)); err != nil && errors.Is(absent, fs.ErrNotExist) {
		return Report{Status: Missing}
	}
	var report Report
	c := comparison{entry: entry, locked: v.LockedTree(entry), keepsModes: v.dir.KeepsModes(), ignored: isEmptyDir, harmless: hashing.Changes.Empty}
	c.compare(&report, tree, err)
	return report
}

// isEmptyDir reports whether an entry is an empty directory, which git does not keep.
func isEmptyDir(e hashing.Entry) bool { return e.Kind == hashing.EmptyDir }

func (v *Vendored) read(ctx context.Context, key string) (*store.Tree, error) {
	info, err := os.Lstat(v.dir.PackagePath(key))
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &project.VendorDirError{Name: v.dir.PackageDir(key), Reason: "is not a directory"}
	}
	return store.ReadTree(ctx, v.dir.PackagePath(key))
}

// LockedTree reads the tree of an entry from the sums in the directory; nil if there are none or they do
// not match.
func (v *Vendored) LockedTree(entry lockfile.Module) *store.Tree { return v.sums.lockedTree(entry) }
