package store

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/cotterpin/cotter/internal/disk/filelock"
)

// inUse are the directories that this process uses, each with a shared lock. It must be closed. It is safe
// for concurrent use.
type inUse struct {
	mu    sync.Mutex
	locks map[string]*filelock.Lock // by path
}

func (u *inUse) use(path string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return false
	}
	if u.locks[path] != nil {
		return true
	}
	lock := filelock.Dir(path)
	ok, err := lock.TryShared()
	switch {
	case errors.Is(err, filelock.ErrUnsupported):
		return true
	case err != nil || !ok:
		return false
	case !lock.IsAt(path):
		_ = lock.Release()
		return false
	}
	u.hold(path, lock)
	return true
}

// publish calls rename, which moves staged to path. It locks the directory before that, as use does, so
// that no process removes it as soon as it is visible.
func (u *inUse) publish(staged, path string, rename func() error) error {
	lock := filelock.Dir(staged)
	if _, err := lock.TryShared(); err != nil { // the file system may have no locks
		return rename()
	}
	if err := rename(); err != nil {
		return errors.Join(err, lock.Release())
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.hold(path, lock)
	return nil
}

func (u *inUse) hold(path string, lock *filelock.Lock) {
	if u.locks == nil {
		u.locks = make(map[string]*filelock.Lock)
	}
	u.locks[path] = lock
}

func (u *inUse) release(path string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if lock := u.locks[path]; lock != nil {
		_ = lock.Release()
		delete(u.locks, path)
	}
}

// remove calls drop, which must move the directory away before it deletes anything, unless a process uses
// it. It reports whether drop succeeded.
func (u *inUse) remove(path string, drop func() error) (bool, error) {
	u.release(path)
	lock := filelock.Dir(path)
	ok, err := lock.TryExclusive()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil && !errors.Is(err, filelock.ErrUnsupported):
		return false, err
	case err == nil && !ok:
		return false, nil
	case err == nil && !lock.IsAt(path):
		return false, lock.Release()
	}
	err = drop()
	return err == nil, errors.Join(err, lock.Release())
}

func (u *inUse) close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	var err error
	for _, lock := range u.locks {
		err = errors.Join(err, lock.Release())
	}
	clear(u.locks)
	return err
}
