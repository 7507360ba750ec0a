package moduletree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/project/detect"
	"github.com/cotterpin/cotter/internal/project/treewalk"
	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/lockfile"
)

// ErrNoConfiguration says that a directory has neither configuration with calls nor a lock, so its modules are not known.
var ErrNoConfiguration = errors.New("the directory has neither configuration nor a lock")

// Read reads the module tree of a project. Modules that are not installed are taken from the lock, and all of them if a
// program with configuration of its own has installed them.
//
// The error joins those of [Tree.Unresolved], with the tree, so programs that want what there is ignore it then. The tree
// is nil only if it could not be read at all: the directory does not exist, the lock is invalid (*[lockfile.SyntaxError]),
// or there is nothing to read ([ErrNoConfiguration]).
func Read(ctx context.Context, p Project) (_ *Tree, err error) {
	defer ctxerr.Keep(ctx, &err)
	w, err := p.walker(ctx)
	if err != nil {
		return nil, err
	}
	found, err := w.Installed(ctx, true, cmp.Or(p.Inputs.TestDir, configread.DefaultTests))
	if errors.Is(err, treewalk.ErrNoLock) {
		return nil, fmt.Errorf("%s: %w", p.dir(), ErrNoConfiguration)
	}
	if err != nil {
		return nil, err
	}
	tree := &Tree{Root: Module{Dir: "."}, Dialect: w.Project.Dialect, Lock: w.Project.Lock}
	for _, m := range found.Modules {
		d := w.Project.DescribeRecorded(m, p.KeepCredentials)
		tree.Modules = append(tree.Modules, Module{
			Path: d.Path, Call: d.Call, Source: d.Source, Replaces: d.Replaces, Constraints: m.Call.From.Recorded,
			Version: d.Version, Installed: d.Installed, Package: d.Package, Hashes: d.Hashes, Dir: d.Dir,
		})
	}
	for _, f := range found.Failures.Sorted() {
		unresolved := Unresolved{Path: f.Path, Err: f.Err}
		if f.Call != nil {
			unresolved.Call, unresolved.Source = f.Call.Shown(p.KeepCredentials)
		}
		tree.Unresolved = append(tree.Unresolved, unresolved)
	}
	return tree, errors.Join(found.Failures.Errs()...)
}

// walker opens the project and reads all but its configuration.
func (p Project) walker(ctx context.Context) (_ *treewalk.Walker, err error) {
	if _, err := os.Stat(p.dir()); err != nil {
		return nil, err
	}
	at := project.Location{Dir: p.dir(), DataDir: p.below(p.dataDir()), LockFile: p.lockFile()}
	if p.ModulesDir != "" {
		at.ModulesDir = p.below(p.ModulesDir)
	}
	// The key seals what later runs trust; nothing of that is read here.
	files, err := project.View(at, userkey.Random())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if files != nil {
		defer func() { err = errors.Join(err, files.Close()) }()
	}
	modulesDir := cmp.Or(p.ModulesDir, filepath.Join(p.dataDir(), "modules"))
	read := &treewalk.Project{Dirs: project.NewDirs(files, p.dir(), modulesDir, p.below(modulesDir)), Dialect: p.Dialect}
	if read.LockSrc, err = project.ViewLock(at); err != nil {
		return nil, err
	}
	if read.Lock, err = lockfile.Parse(read.LockSrc, p.lockFile()); err != nil {
		return nil, err
	}
	if err := read.Read(ctx, files, detect.Project{Location: at}); err != nil {
		return nil, err
	}
	reader, err := p.reader(at)
	return &treewalk.Walker{Project: read, Config: reader, Parallel: 2 * runtime.GOMAXPROCS(0)}, err
}

func (p Project) reader(at project.Location) (config.Reader, error) {
	if p.Config != nil {
		return p.Config, nil
	}
	inputs := p.Inputs
	if inputs.Workspace == "" {
		workspace, err := project.Workspace(at.DataDir)
		if err != nil {
			return nil, err
		}
		inputs.Workspace = workspace
	}
	return configread.NewTree(inputs), nil
}

func (p Project) dir() string      { return cmp.Or(p.Dir, ".") }
func (p Project) dataDir() string  { return cmp.Or(p.DataDir, ".terraform") }
func (p Project) lockFile() string { return cmp.Or(p.LockFile, lockfile.Name) }

func (p Project) below(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.dir(), name)
}
