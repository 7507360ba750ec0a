//go:build unix

package gitexec

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// lockFlags are the flags to open a lock file. They prevent following a link to another file,
// and waiting for a named pipe.
const lockFlags = os.O_CREATE | os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// holdFile opens a file, creates it if necessary, and locks it. The lock belongs to the open
// file, so a child process that inherits the file keeps the lock even if its parent is killed.
func holdFile(ctx context.Context, name string) (*os.File, error) {
	file, err := os.OpenFile(name, lockFlags|os.O_RDWR, 0o600) // NFS requires O_RDWR
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errNotFile, file.Close())
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(err, file.Close())
		}
		select {
		case <-time.After(lockRetry):
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), file.Close())
		}
	}
}

// ownedByOther reports whether a file belongs to a user other than this one and root.
func ownedByOther(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid != 0 && int64(stat.Uid) != int64(os.Geteuid())
}
