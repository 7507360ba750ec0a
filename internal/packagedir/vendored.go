package packagedir

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
)

// inspectVendored reads every file once. Added files count as a change, unlike in an installed package,
// because only the author of a commit can have added them.
func (d *Dirs) inspectVendored(ctx context.Context, entry lockfile.Module) Report {
	tree, err := d.vendored.Do(ctx, entry.Key, func(ctx context.Context) (*store.Tree, error) {
		return d.readVendored(ctx, entry.Key)
	})
	if _, absent := os.Lstat(d.PackagePath(entry.Key)); err != nil && errors.Is(absent, fs.ErrNotExist) {
		return Report{Status: Missing}
	}
	var report Report
	c := comparison{entry: entry, locked: d.LockedTree(entry), keepsModes: d.Vendor.KeepsModes(), ignored: isEmptyDir, harmless: hashing.Changes.Empty}
	c.compare(&report, tree, err)
	return report
}

// isEmptyDir reports whether an entry is an empty directory, which git does not keep.
func isEmptyDir(e hashing.Entry) bool { return e.Kind == hashing.EmptyDir }

func (d *Dirs) readVendored(ctx context.Context, key string) (*store.Tree, error) {
	info, err := os.Lstat(d.PackagePath(key))
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &project.VendorDirError{Name: d.PackageDir(key), Reason: "is not a directory"}
	}
	return store.ReadTree(ctx, d.PackagePath(key))
}
