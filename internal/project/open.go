package project

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/filelock"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/store/userkey"
)

// Open opens the project exclusively. It waits until no other process holds the project or ctx is
// done, and calls onWait once if it must wait and onWait is not nil. Then it creates the modules
// directory, undoes the unfinished change of a killed process, and removes leftover files.
//
// One lock is on the project directory and protects the dependency lock. The other is .cotter/lock and
// protects the modules directory, which TF_DATA_DIR can put anywhere.
//
// Neither the modules directory nor DataDir, if it is in there, may be a symbolic link, because files
// must not be written outside of them. The error of every function with a Location is a
// *[MetadataError] if the lock or the data directory would be in the metadata of version control.
func Open(ctx context.Context, location Location, key *userkey.Key, onWait func()) (_ *Project, err error) {
	p := &Project{location: location, key: key, path: location.Modules()}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if p.dir, err = pathsafe.OpenRoot(location.Dir); err != nil {
		return nil, err
	}
	if err := location.check(); err != nil {
		return nil, err
	}
	if p.lock, err = location.openLock(p.dir); err != nil {
		return nil, err
	}
	ownsDir, err := p.holdDir(ctx, onWait)
	if err != nil {
		return nil, err
	}
	made, err := p.makeDirs()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(p.identify(), p.removeIrregular()); err != nil {
		return nil, err
	}
	isHeld, err := p.holdModules(ctx, onWait)
	if err == nil && !isHeld {
		// The process that held the lock has removed it with the directory that it had created, or another process
		// has replaced a directory.
		if err := p.Close(); err != nil {
			return nil, err
		}
		*p = Project{}
		return Open(ctx, location, key, onWait)
	}
	if err != nil {
		return nil, err
	}
	if ownsDir {
		p.made = made
	}
	if err := p.recover(); err != nil {
		return nil, err
	}
	p.sweep(ownsDir)
	p.readFormerLock()
	p.stage = path.Join(stageName, rand.Text())
	return p, nil
}

// View opens the project for reading. It takes no lock and changes nothing. If there is no
// modules directory, the error wraps fs.ErrNotExist.
func View(location Location, key *userkey.Key) (*Project, error) {
	p := &Project{location: location, key: key, path: location.Modules()}
	var err error
	if p.dir, err = pathsafe.OpenRoot(location.Dir); err == nil {
		err = location.check()
	}
	if err == nil {
		p.lock, err = location.openLock(p.dir)
	}
	if err == nil {
		p.modules, err = pathsafe.OpenRoot(p.path)
	}
	if err == nil {
		err = p.identify()
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.readFormerLock()
	return p, nil
}

// makeDirs creates and opens the modules directory, creates .cotter in it, and returns what it created, outermost first.
func (p *Project) makeDirs() (made []string, err error) {
	components := 1
	if p.location.ModulesDir == "" {
		components = 2 // the data directory too
	}
	base, below := pathsafe.SplitDirs(p.path, components) // what is above may be reached through links: the user names it
	mkdir := func(dir string, mkdir func() error) error {
		err := atomicfile.Step("project.dirs.mkdir", mkdir)
		if err == nil {
			made = append(made, dir)
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	}
	for _, dir := range pathsafe.MissingDirs(base) {
		if err := mkdir(dir, func() error { return os.Mkdir(dir, 0o777) }); err != nil {
			return nil, err
		}
	}
	mkdirIn := func(root *os.Root, dir, name string) error {
		return mkdir(filepath.Join(dir, name), func() error { return root.Mkdir(name, 0o777) })
	}
	if p.modules, err = pathsafe.OpenDirs(base, below, mkdirIn); err != nil {
		return nil, err
	}
	return made, mkdirIn(p.modules, p.path, ownName)
}

// holdModules takes the lock on the modules directory. It returns false if that is not at its path any more.
func (p *Project) holdModules(ctx context.Context, onWait func()) (isHeld bool, err error) {
	dir, name := path.Split(flockName)
	own, err := pathsafe.OpenDir(p.modules, p.path, path.Clean(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer own.Close()
	lock, err := filelock.FileIn(own, filepath.Join(p.path, ownName), name)
	if err == nil {
		err = p.hold(ctx, lock, onWait)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && lock.IsIn(own, name) && lock.IsAt(filepath.Join(p.path, ownName, name)), err
}

// IsOpened reports whether [Open] has ever opened the project.
func IsOpened(location Location) bool {
	info, err := os.Lstat(filepath.Join(location.Modules(), ownName))
	return err == nil && info.IsDir()
}

// dirTimeout is how long a process waits for the lock on the project directory: a script that runs
// Cotter under the same lock ("flock . cotter install") would wait for itself. Without it, the lock
// file is protected only by the comparison before it is replaced.
const dirTimeout = 30 * time.Second

// holdDir takes the lock on the project directory. It returns false if the file system has no such
// locks, or after dirTimeout.
func (p *Project) holdDir(ctx context.Context, onWait func()) (bool, error) {
	dir, err := filepath.EvalSymlinks(p.location.Dir)
	if err != nil {
		return false, err
	}
	waitCtx, cancel := context.WithTimeout(ctx, dirTimeout)
	defer cancel()
	err = p.hold(waitCtx, filelock.Dir(dir), onWait)
	if errors.Is(err, filelock.ErrUnsupported) || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return false, nil
	}
	return err == nil, err
}

func (p *Project) hold(ctx context.Context, lock *filelock.Lock, onWait func()) error {
	if err := lock.Exclusive(ctx, 0, onWait); err != nil {
		return fmt.Errorf("waiting for %s: %w", p.path, err)
	}
	p.held = append(p.held, lock)
	return nil
}

// identify sets identity for the opened modules directory.
func (p *Project) identify() error {
	dir, err := pathsafe.Real(p.location.Dir)
	if err != nil {
		return err
	}
	modules, err := pathsafe.Real(p.path)
	if err != nil {
		return err
	}
	p.identity = fmt.Sprintf("%q %q", dir, modules)
	return nil
}

// ownDirs and ownFiles list everything that may be in .cotter.
var (
	ownDirs  = []string{stageName, retiredName, treesName, sumsName}
	ownFiles = []string{flockName, journalName, lockCopyName}
)

// removeIrregular removes what has the name of one of Cotter's own files or directories and is
// something else, such as a link.
func (p *Project) removeIrregular() error {
	if p.modules == nil {
		return nil
	}
	remove := func(name string, wanted func(fs.FileMode) bool) error {
		info, err := p.modules.Lstat(name)
		if err != nil || wanted(info.Mode()) {
			return nil //nolint:nilerr // it is absent, or using it will fail
		}
		switch name {
		case journalName:
			p.note(UnprovenJournal, name)
		case lockCopyName:
			p.note(UnprovenLockCopy, name)
		}
		return p.modules.RemoveAll(name)
	}
	var err error
	for _, name := range ownDirs {
		err = errors.Join(err, remove(name, fs.FileMode.IsDir))
	}
	for _, name := range ownFiles {
		err = errors.Join(err, remove(name, fs.FileMode.IsRegular))
	}
	return err
}

// sweep removes what killed processes have left. Failures are ignored: these files are never read.
func (p *Project) sweep(ownsDir bool) {
	_ = p.modules.RemoveAll(stageName)
	_ = p.modules.RemoveAll(retiredName)
	entries, _ := fs.ReadDir(p.modules.FS(), ownName)
	for _, entry := range entries {
		if !isOwn(path.Join(ownName, entry.Name())) {
			_ = p.modules.RemoveAll(path.Join(ownName, entry.Name()))
		}
	}
	if ownsDir && p.lock.root == p.dir { // elsewhere, another project may be replacing the same file
		atomicfile.Sweep(p.dir, p.lock.name)
	}
}

func isOwn(name string) bool {
	for _, own := range append(ownDirs, ownFiles...) {
		if name == own {
			return true
		}
	}
	return false
}
