package packagedir

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/project"
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

	modulesDir, modulesPath string
	installed               *Installed
	vendored                *Vendored // nil if Vendor is
	// realModules is the modules directory without symbolic links, relative to the root module as stock
	// tools see it; "" if it does not exist yet.
	realModules string
}

// NewDirs returns the directories of a project. modulesDir is relative to the root module or absolute.
// vendor may be nil.
func NewDirs(root, modulesDir, modulesPath string, in *Installed, vendor *project.VendorDir) *Dirs {
	d := &Dirs{Root: root, Vendor: vendor, modulesDir: modulesDir, modulesPath: modulesPath, installed: in}
	if vendor != nil {
		d.vendored = NewVendored(vendor)
	}
	if base, err := filepath.EvalSymlinks(root); err == nil {
		d.realModules, _ = pathsafe.Resolve(base, modulesDir) // "" if it does not exist
	}
	return d
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
		return d.vendored.Inspect(ctx, entry)
	}
	return d.installed.Inspect(ctx, entry)
}

// LockedTree is the tree from which an entry was made, or nil if it is not known.
func (d *Dirs) LockedTree(entry lockfile.Module) *store.Tree {
	tree := d.installed.LockedTree(entry)
	if tree == nil && d.Vendor != nil {
		tree = d.vendored.LockedTree(entry)
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
