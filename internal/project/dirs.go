package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// Dirs are the directories of a project's packages in the stock tools' data directory. A path is for this process; a
// directory is a name in modules.json, relative to the root module, with forward slashes.
type Dirs struct {
	Root string // the path of the root module's directory

	project                 *Project // nil without a modules directory
	modulesDir, modulesPath string
	// realModules is the modules directory without symbolic links, relative to the root module as stock
	// tools see it; "" if it does not exist yet.
	realModules string
}

// NewDirs returns those of a project, which may be nil. modulesDir is relative to the root module or absolute.
func NewDirs(p *Project, root, modulesDir, modulesPath string) *Dirs {
	d := &Dirs{Root: root, project: p, modulesDir: modulesDir, modulesPath: modulesPath}
	if base, err := filepath.EvalSymlinks(root); err == nil {
		d.realModules, _ = pathsafe.Resolve(base, modulesDir) // "" if it does not exist
	}
	return d
}

// PackageDir is the directory of the package of a call.
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
func (d *Dirs) Files(key string) *Files {
	if d.project == nil {
		return FilesIn(filepath.Join(d.modulesPath, key))
	}
	return d.project.Files(key)
}

// Respell makes modules.json name the modules directory as this run does. It may have been written with another
// path to the same directory: through a link, or absolute.
func (d *Dirs) Respell(recorded *Manifest) {
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
			top = real // stock tools resolve the links in a path that a call has
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
func (d *Dirs) Recorded(key, dir string) (files *Files, top string) {
	if top = d.PackageDir(key); pathsafe.Within(dir, top) {
		return d.Files(key), top
	}
	return FilesIn(d.Path(dir)), dir
}

// Path returns the path of a directory from modules.json.
func (d *Dirs) Path(dir string) string {
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(d.Root, filepath.FromSlash(dir))
}

// OwnModule finds a module directory among the user's own files, anywhere. written is relative to the root
// module's directory, with forward slashes. dir is in the form of stock tools, which path.module shows:
// without symbolic links, relative to the root module, with forward slashes. path is that for this process.
func OwnModule(rootDir, written string) (dir, path string, err error) {
	base, err := filepath.EvalSymlinks(rootDir)
	if err != nil {
		return "", "", err
	}
	real, err := pathsafe.Resolve(base, filepath.FromSlash(written))
	if err != nil {
		return "", "", unreadable(written, err)
	}
	path = pathsafe.Inside(base, real)
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return "", "", unreadable(written, err)
	}
	return filepath.ToSlash(real), path, nil
}

func unreadable(dir string, cause error) error {
	if cause == nil {
		return fmt.Errorf("unreadable module directory: %q is not a directory", dir)
	}
	if errors.Is(cause, fs.ErrNotExist) {
		return fmt.Errorf("unreadable module directory: %q does not exist: %w", dir, fs.ErrNotExist)
	}
	return fmt.Errorf("unreadable module directory: %w", cause)
}
