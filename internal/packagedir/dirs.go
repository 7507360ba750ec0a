package packagedir

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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

// Respell makes modules.json name the modules directory as this run does. It may have been written with another
// path to the same directory: through a link, or absolute.
func (d *Dirs) Respell(recorded *project.Manifest) {
	modules, err := os.Stat(d.modulesPath)
	if err != nil {
		return
	}
	given, real := filepath.ToSlash(d.modulesDir), filepath.ToSlash(d.realModules)
	known := map[string]bool{given: true, real: true}
	isModules := func(dir string) bool {
		same, ok := known[dir]
		if !ok {
			info, err := os.Stat(d.Path(dir))
			same = err == nil && os.SameFile(info, modules)
			known[dir] = same
		}
		return same
	}
	for _, record := range recorded.Records() {
		top := given
		if strings.HasPrefix(record.Source, ".") {
			top = real // stock tools resolve links for what is called by a path
		}
		if top == "" || strings.HasPrefix(record.Dir, top+"/") {
			continue
		}
		for i, char := range record.Dir {
			if char == '/' && i > 0 && isModules(record.Dir[:i]) {
				record.Dir = top + record.Dir[i:]
				recorded.Set(record)
				break
			}
		}
	}
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
