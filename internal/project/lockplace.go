package project

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/pathsafe"
)

// ErrLockChanged is returned if another program wrote the dependency lock during
// a change. Nothing was changed.
var ErrLockChanged = errors.New("the lock file was changed by another program during this run; run the command again")

// lockPlace is where the dependency lock of a project is. The zero value is for a project without a
// lock file: nothing is read or written there.
type lockPlace struct {
	// root is the project directory, or the directory of a lock that is not below it. name is the
	// lock's name in root.
	root *os.Root
	name string
	// file is the lock's path as the journal has it.
	file string
	// owned says that root has to be closed.
	owned bool
}

// openLock returns the place of the lock. dir is the open project directory. A lock that is below
// that directory is reached only through it, so that links do not lead out of it. The directory of
// another lock must exist.
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

// write replaces the lock if it still has the old bytes.
func (p lockPlace) write(old, lock []byte) error {
	if p.root == nil {
		return nil
	}
	err := atomicfile.Write(p.root, p.name, lock, atomicfile.Options{Swap: true, Old: old, Step: "project.lock"})
	if errors.Is(err, atomicfile.ErrChanged) {
		return ErrLockChanged
	}
	return err
}

// ReadLock returns the dependency lock's bytes, or nil if there is no lock file. If the
// lock is not a regular file or is too large, the error is an *fs.PathError that
// wraps atomicfile.ErrIrregular or atomicfile.ErrTooLarge.
func ReadLock(location Location) ([]byte, error) {
	dir, err := pathsafe.OpenRoot(location.Dir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := location.check(); err != nil {
		return nil, err
	}
	place, err := location.openLock(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = place.close() }()
	return place.read()
}
