package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// ErrLockChanged says that another program wrote the dependency lock during a change. Nothing was changed.
var ErrLockChanged = errors.New("the lock file was changed by another program during this run; run the command again")

// lockPlace is where the dependency lock of a project is. In the zero value, nothing is read or written.
type lockPlace struct {
	// root is the project directory, or the directory of a lock that is not below it.
	root *os.Root
	name string
	// file is the lock's path as the journal has it. owned says that root has to be closed.
	file  string
	owned bool
}

// openLock returns the place of the lock. A lock below the open project directory dir is reached only
// through it, so that links do not lead out of it. The directory of another lock must exist.
func (l Location) openLock(dir *os.Root) (lockPlace, error) {
	if l.NoLockFile {
		return lockPlace{}, nil
	}
	if filepath.IsLocal(l.LockFile) {
		return lockPlace{root: dir, name: l.LockFile, file: l.LockFile}, nil
	}
	file, err := filepath.Abs(l.lockPath())
	if err != nil {
		return lockPlace{}, err
	}
	root, err := pathsafe.OpenRoot(filepath.Dir(file))
	if err != nil {
		return lockPlace{}, err
	}
	return lockPlace{root: root, name: filepath.Base(file), file: file, owned: true}, nil
}

func (p lockPlace) close() error {
	if !p.owned {
		return nil
	}
	return p.root.Close()
}

// read returns nil if there is no lock file.
func (p lockPlace) read() ([]byte, error) {
	if p.root == nil {
		return nil, nil
	}
	return readOptional(p.root, p.name, maxLock)
}

// WriteLock replaces the dependency lock, and creates no modules directory. The error is [ErrLockChanged] if it
// does not have the old bytes.
func WriteLock(location Location, old, lock []byte) error {
	return location.withLock(func(place lockPlace) error {
		if place.root == nil {
			return nil
		}
		err := atomicfile.Write(place.root, place.name, lock, atomicfile.Options{Swap: true, Old: old, Step: "project.lock"})
		if errors.Is(err, atomicfile.ErrChanged) {
			return ErrLockChanged
		}
		return err
	})
}

// ReadLock returns the dependency lock's bytes, or nil if there is no lock file. The error for an
// irregular or too large file is an *fs.PathError with one of the errors of [atomicfile.Read].
func ReadLock(location Location) (lock []byte, err error) {
	err = location.withLock(func(place lockPlace) error {
		lock, err = place.read()
		return err
	})
	return lock, err
}

// ViewLock is [ReadLock] for a program that does not write the lock. It follows a link as ReadLinkedLock does.
func ViewLock(location Location) ([]byte, error) {
	lock, err := ReadLock(location)
	if errors.Is(err, atomicfile.ErrIrregular) {
		return ReadLinkedLock(location)
	}
	return lock, err
}

// ReadLinkedLock follows a link in the place of the lock to a configuration file of the same git repository.
func ReadLinkedLock(location Location) ([]byte, error) {
	path := location.lockPath()
	lock, err := FoundFile{Path: path, dir: location.Dir}.Read(maxLock)
	if err == nil && len(lock) > maxLock {
		err = &fs.PathError{Op: "read", Path: path, Err: atomicfile.ErrTooLarge}
	}
	return lock, err
}

func (l Location) withLock(use func(lockPlace) error) error {
	dir, err := pathsafe.OpenRoot(l.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := l.check(); err != nil {
		return err
	}
	place, err := l.openLock(dir)
	if err != nil {
		return err
	}
	defer func() { _ = place.close() }()
	return use(place)
}
