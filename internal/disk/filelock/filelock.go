// Package filelock locks files and directories between processes, and keeps temporary directories that a process holds.
package filelock

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

var ErrUnsupported = errors.New("directories cannot be locked here")

// openFlags are for names that another program may know, and may have put something else at.
const openFlags = os.O_RDONLY | pathsafe.NoFollow | pathsafe.Nonblock

// poll is the interval at which a waiting process tries again.
const poll = 20 * time.Millisecond

// Lock is a lock of the operating system on one file or directory: flock(2) on Unix, FileEx on
// Windows. It excludes other Locks, also those of this process, and ends with the process. It must be
// released after it was taken.
type Lock struct {
	file *flock.Flock
	dir  bool
}

// File returns a lock on a separate lock file, which is created with mode 0600 and never removed.
func File(name string) *Lock { return file(name, os.O_CREATE) }

// FileIn creates a lock file in an open directory, whose path is dir, and returns a lock on it. If dir is another directory
// by now, no file is created there: see [Lock.IsIn]. A file that exists is not opened for writing, which a read-only file
// system refuses.
func FileIn(root *os.Root, dir, name string) (*Lock, error) {
	created, err := root.OpenFile(name, os.O_CREATE|os.O_RDONLY|pathsafe.NoFollow|pathsafe.Nonblock, 0o600)
	if err != nil {
		return nil, pathsafe.InRoot(root, err)
	}
	return file(filepath.Join(dir, name), 0), created.Close()
}

func file(name string, flags int) *Lock {
	flags |= openFlags
	switch runtime.GOOS {
	case "aix", "illumos", "solaris": // they lock only files that are open for writing
		flags |= os.O_RDWR
	}
	return &Lock{file: flock.New(name, flock.SetFlag(flags), flock.SetPermissions(0o600))}
}

func Dir(name string) *Lock {
	return &Lock{file: flock.New(name, flock.SetFlag(openFlags)), dir: true}
}

// TryExclusive takes the lock and returns true unless another Lock holds it.
func (l *Lock) TryExclusive() (bool, error) { return l.result(l.file.TryLock()) }

// TryShared takes the lock and returns true unless another Lock holds it exclusively.
func (l *Lock) TryShared() (bool, error) { return l.result(l.file.TryRLock()) }

// Exclusive waits for the lock until ctx is done. If onWait is not nil, it is called once if the
// wait exceeds patience.
func (l *Lock) Exclusive(ctx context.Context, patience time.Duration, onWait func()) error {
	began, notified := time.Now(), onWait == nil
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		if ok, err := l.TryExclusive(); ok || err != nil {
			return err
		}
		if !notified && time.Since(began) >= patience {
			notified = true
			onWait()
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Release releases the lock. The Lock can be used again.
func (l *Lock) Release() error { return l.file.Close() }

// result distinguishes a lock that another Lock holds from one that the system does not support.
func (l *Lock) result(ok bool, err error) (bool, error) {
	if err == nil {
		return ok, nil
	}
	err = errors.Join(err, l.file.Close())
	if l.dir && !errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(ErrUnsupported, err)
	}
	return false, err
}

// IsAt reports whether the locked file or directory still has this name. Another process may have
// moved it between opening and locking.
func (l *Lock) IsAt(name string) bool { return l.is(os.Lstat(name)) }

// IsIn is IsAt for a name in an open directory, which may have another path by now.
func (l *Lock) IsIn(root *os.Root, name string) bool { return l.is(root.Lstat(name)) }

func (l *Lock) is(now fs.FileInfo, err error) bool {
	if err != nil {
		return false
	}
	locked, err := l.file.Stat()
	return err == nil && os.SameFile(locked, now)
}
