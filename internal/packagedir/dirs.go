package packagedir

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
)

// Dirs are the directories of a project's packages: in the stock tools' data directory, or vendored. It is
// safe for concurrent use. A path is for this process; a directory is a name in modules.json, relative to
// the root module, with forward slashes.
type Dirs struct {
	Root string
	// Vendor is nil without vendored packages.
	Vendor *project.VendorDir
	// KeepsModes says that the file system of the data directory has executable bits.
	KeepsModes bool

	// project is nil without a modules directory. Then all installed packages are missing.
	project                 *project.Project
	modulesDir, modulesPath string
	// realModules is the modules directory without symbolic links, relative to the root module as stock
	// tools see it; "" if it does not exist yet.
	realModules string

	// sums read the recorded trees of packages, by file name.
	sums                  []func(name string) ([]byte, error)
	locked                singleflight.Memo[hashing.Hash, *store.Tree]
	sharedTrees, vendored singleflight.Memo[string, *store.Tree]

	stopped atomic.Bool
	reader  sync.WaitGroup
}

// NewDirs reads no package. modulesDir is relative to the root module or absolute.
func NewDirs(p *project.Project, root, modulesDir, modulesPath string) *Dirs {
	d := &Dirs{Root: root, KeepsModes: p == nil || p.KeepsModes(), project: p, modulesDir: modulesDir, modulesPath: modulesPath}
	if p != nil {
		d.sums = append(d.sums, p.Sums)
	}
	if base, err := filepath.EvalSymlinks(root); err == nil {
		d.realModules, _ = pathsafe.Resolve(base, modulesDir) // "" if it does not exist
	}
	return d
}

// SetVendor makes dir that of the packages, before any package was inspected.
func (d *Dirs) SetVendor(dir *project.VendorDir) {
	d.Vendor, d.sums = dir, append(d.sums, dir.Sums)
}

func (d *Dirs) PackageDir(key string) string {
	if d.Vendor != nil {
		return d.Vendor.PackageDir(key)
	}
	return d.DataDir(key)
}

// DataDir is that of a call's package in the data directory.
func (d *Dirs) DataDir(key string) string {
	return path.Join(filepath.ToSlash(d.modulesDir), key)
}

// RealPackageDir is PackageDir without symbolic links in the path of the data directory.
func (d *Dirs) RealPackageDir(key string) string {
	if d.Vendor != nil || d.realModules == "" { // the vendor path has no links
		return d.PackageDir(key)
	}
	return path.Join(filepath.ToSlash(d.realModules), key)
}

func (d *Dirs) PackagePath(key string) string {
	if d.Vendor != nil {
		return d.Vendor.PackagePath(key)
	}
	return d.DataPath(key)
}

func (d *Dirs) DataPath(key string) string { return filepath.Join(d.modulesPath, key) }

// VendoredDir is "" without vendored packages.
func (d *Dirs) VendoredDir(key string) string {
	if d.Vendor == nil {
		return ""
	}
	return d.Vendor.PackageDir(key)
}

// Inspect compares an entry's package, installed or vendored, with it. If ctx ends, the report is not
// complete.
func (d *Dirs) Inspect(ctx context.Context, entry lockfile.Module) Report {
	if d.Vendor != nil {
		return d.inspectVendored(ctx, entry)
	}
	return d.inspectInstalled(ctx, entry)
}

// LockedTree is the tree from which an entry was made, by the recorded sums; nil if there are none or they do
// not match.
func (d *Dirs) LockedTree(entry lockfile.Module) *store.Tree {
	t1 := entry.Hash("t1")
	if t1 == "" {
		return nil
	}
	tree, err := d.locked.Do(context.Background(), t1, func(context.Context) (*store.Tree, error) {
		for _, read := range d.sums {
			text, err := read(store.FileName(t1))
			if err != nil {
				continue
			}
			parsed, err := hashing.ParseTree(text)
			if err != nil {
				continue
			}
			if tree := store.NewTree(parsed); tree.T1() == t1 {
				return tree, nil
			}
		}
		return nil, fs.ErrNotExist
	})
	if h1 := entry.Hash("h1"); err != nil || h1 != "" && h1 != tree.H1() {
		return nil // the tree is not recorded, or has another h1 than the entry
	}
	return tree
}

// UnlockedVendored are the directories next to vendored packages for which the lock has no entry.
func (d *Dirs) UnlockedVendored(lock *lockfile.File) []string {
	if d.Vendor == nil {
		return nil
	}
	return slices.DeleteFunc(d.Vendor.Keys(), func(key string) bool {
		_, locked := lock.Module(key)
		return locked
	})
}

func (d *Dirs) vendoredPart(dir string) (part string, ok bool) {
	if d.Vendor == nil {
		return "", false
	}
	dir = path.Clean(dir)
	return strings.TrimPrefix(dir, d.Vendor.Name()), pathsafe.Within(dir, d.Vendor.Name())
}

// Path returns the path of a directory from modules.json.
func (d *Dirs) Path(dir string) string {
	if filepath.IsAbs(dir) {
		return dir
	}
	if part, ok := d.vendoredPart(dir); ok {
		return filepath.Join(d.Vendor.Path(), filepath.FromSlash(part))
	}
	return filepath.Join(d.Root, filepath.FromSlash(dir))
}

// Boundary is what links in a directory from modules.json must not leave.
func (d *Dirs) Boundary(dir string) string {
	if _, ok := d.vendoredPart(dir); ok {
		return d.Vendor.Path()
	}
	return d.modulesPath
}
