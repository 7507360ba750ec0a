package packagedir

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
)

// Dirs are the directories of a project's packages in the stock tools' data directory. It is safe for
// concurrent use. A path is for this process; a directory is a name in modules.json, relative to
// the root module, with forward slashes.
type Dirs struct {
	Root string
	// KeepsModes says that the file system of the data directory has executable bits.
	KeepsModes bool

	// project is nil without a modules directory. Then all installed packages are missing.
	project                 *project.Project
	modulesDir, modulesPath string
	// realModules is the modules directory without symbolic links, relative to the root module as stock
	// tools see it; "" if it does not exist yet.
	realModules string

	locked      singleflight.Memo[hashing.Hash, *store.Tree]
	sharedTrees singleflight.Memo[string, *store.Tree]

	stopped atomic.Bool
	reader  sync.WaitGroup
}

// NewDirs reads no package. modulesDir is relative to the root module or absolute.
func NewDirs(p *project.Project, root, modulesDir, modulesPath string) *Dirs {
	d := &Dirs{Root: root, KeepsModes: p == nil || p.KeepsModes(), project: p, modulesDir: modulesDir, modulesPath: modulesPath}
	if base, err := filepath.EvalSymlinks(root); err == nil {
		d.realModules, _ = pathsafe.Resolve(base, modulesDir) // "" if it does not exist
	}
	return d
}

func (d *Dirs) PackageDir(key string) string {
	return path.Join(filepath.ToSlash(d.modulesDir), key)
}

// RealPackageDir is PackageDir without symbolic links in the path of the data directory.
func (d *Dirs) RealPackageDir(key string) string {
	if d.realModules == "" {
		return d.PackageDir(key)
	}
	return path.Join(filepath.ToSlash(d.realModules), key)
}

// Files are those of a call's package.
func (d *Dirs) Files(key string) *project.Files {
	if d.project == nil {
		return project.FilesIn(filepath.Join(d.modulesPath, key))
	}
	return d.project.Files(key)
}

// Recorded returns the files of the package of a call whose module is in dir by modules.json, and the
// package's directory as it is written there. If another tool placed it elsewhere, the module's directory
// counts as the whole package.
func (d *Dirs) Recorded(key, dir string) (files *project.Files, top string) {
	if top = d.PackageDir(key); pathsafe.Within(dir, top) {
		return d.Files(key), top
	}
	return project.FilesIn(d.Path(dir)), dir
}

// LockedTree is the tree from which an entry was made, by the recorded sums; nil if there are none or they do
// not match.
func (d *Dirs) LockedTree(entry lockfile.Module) *store.Tree {
	t1 := entry.Hash("t1")
	if t1 == "" || d.project == nil {
		return nil
	}
	tree, err := d.locked.Do(context.Background(), t1, func(context.Context) (*store.Tree, error) {
		text, err := d.project.Sums(store.FileName(t1))
		if err != nil {
			return nil, err
		}
		parsed, err := hashing.ParseTree(text)
		if err != nil {
			return nil, err
		}
		if tree := store.NewTree(parsed); tree.T1() == t1 {
			return tree, nil
		}
		return nil, fs.ErrNotExist
	})
	if h1 := entry.Hash("h1"); err != nil || h1 != "" && h1 != tree.H1() {
		return nil // the tree is not recorded, or has another h1 than the entry
	}
	return tree
}

// Path returns the path of a directory from modules.json.
func (d *Dirs) Path(dir string) string {
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(d.Root, filepath.FromSlash(dir))
}
