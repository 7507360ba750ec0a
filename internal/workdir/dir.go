package workdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// The names inside the modules directory.
const (
	manifestName = "modules.json"
	ownName      = ".cotter"

	stageName    = ownName + "/stage"
	trashName    = ownName + "/trash"
	sumsName     = ownName + "/sums"
	journalName  = ownName + "/journal.json"
	lockCopyName = ownName + "/lock.hcl"
	flockName    = ownName + "/lock"
)

// lockPoll is how often a waiting process asks again for the directory.
const lockPoll = 50 * time.Millisecond

// Dir is an open modules directory. One made by [Open] is held exclusively
// until Close; one made by [View] is for reading only.
type Dir struct {
	root  *os.Root
	path  string
	files Files
	held  *flock.Flock
	stage string // the name of this process's part of the stage
}

// Files are the project's files that change together with the directory.
type Files struct {
	// Project is the directory that holds the dependency lock.
	Project *os.Root
	// LockFile is the lock's name below Project.
	LockFile string
}

// Open makes the directory at dataDir/modules if it is absent, waits until no
// other process holds it, finishes what a crashed process left, and clears
// away its leftovers. Waiting ends with ctx; onWait, if not nil, is called once
// when the directory is held by another process.
//
// Neither dataDir's own last component nor anything below it may be a symbolic
// link: what is written here must not land elsewhere.
func Open(ctx context.Context, dataDir string, files Files, onWait func()) (*Dir, error) {
	modules := filepath.Join(dataDir, "modules")
	own := filepath.Join(modules, ownName)
	for _, dir := range []string{dataDir, modules, own} {
		if err := refuseLink(dir); err != nil {
			return nil, err
		}
		if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	root, err := os.OpenRoot(modules)
	if err != nil {
		return nil, err
	}
	d := &Dir{root: root, path: modules, files: files}
	if err := d.acquire(ctx, onWait); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := d.settle(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// View opens the directory for reading. It takes no lock and changes nothing.
// A directory that does not exist is fs.ErrNotExist.
func View(dataDir string) (*Dir, error) {
	modules := filepath.Join(dataDir, "modules")
	root, err := os.OpenRoot(modules)
	if err != nil {
		return nil, err
	}
	return &Dir{root: root, path: modules}, nil
}

// Close releases the directory.
func (d *Dir) Close() error {
	var err error
	if d.held != nil {
		if d.stage != "" {
			err = d.root.RemoveAll(d.stage)
		}
		err = errors.Join(err, d.held.Unlock())
	}
	return errors.Join(err, d.root.Close())
}

// Path is the modules directory as it was opened, for messages and for reading
// configuration in it.
func (d *Dir) Path() string { return d.path }

// Package opens the installed directory of a call's key. It is fs.ErrNotExist
// where there is none, and an error where it is anything but a real directory.
func (d *Dir) Package(key string) (*os.Root, error) {
	info, err := d.root.Lstat(key)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", filepath.Join(d.path, key))
	}
	return d.root.OpenRoot(key)
}

// Manifest reads modules.json. A file that is absent is fs.ErrNotExist.
func (d *Dir) Manifest() ([]byte, error) { return d.root.ReadFile(manifestName) }

// LockCopy reads the copy of the dependency lock as it was last written. It is
// fs.ErrNotExist where there is none.
func (d *Dir) LockCopy() ([]byte, error) { return d.root.ReadFile(lockCopyName) }

// Unfinished reports whether a change was decided and not finished, which
// happens when a process was killed. Open finishes it.
func (d *Dir) Unfinished() bool {
	_, err := d.root.Lstat(journalName)
	return err == nil
}

// Stage returns a fresh path for a package on its way in: the directory does
// not exist yet, its parent does.
func (d *Dir) Stage(name string) string {
	return filepath.Join(d.path, filepath.FromSlash(d.stage), name)
}

// acquire takes the kernel's lock on the directory, which ends with the
// process that holds it, however it ends.
func (d *Dir) acquire(ctx context.Context, onWait func()) error {
	file := flock.New(filepath.Join(d.path, filepath.FromSlash(flockName)))
	ok, err := file.TryLock()
	if err == nil && !ok {
		if onWait != nil {
			onWait()
		}
		_, err = file.TryLockContext(ctx, lockPoll)
	}
	if err != nil {
		return fmt.Errorf("waiting for %s: %w", d.path, err)
	}
	d.held = file
	return nil
}

// settle finishes a decided change, removes what other processes left, and
// makes a stage. Leftovers that cannot be removed do no harm, so they are no
// error.
func (d *Dir) settle() error {
	if err := d.recover(); err != nil {
		return err
	}
	_ = d.root.RemoveAll(stageName)
	_ = d.root.RemoveAll(trashName)
	d.stage = path.Join(stageName, randomName())
	return d.root.MkdirAll(d.stage, 0o700)
}

func refuseLink(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s must be a directory and no link; remove it, or name the place it leads to with TF_DATA_DIR", dir)
	}
	return nil
}
