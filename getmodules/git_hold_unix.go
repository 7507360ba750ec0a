//go:build unix

package getmodules

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// holdFile opens a file, making it if need be, and locks it. The lock belongs
// to the open file, so a child process that inherits it keeps the lock when its
// parent is killed.
func holdFile(ctx context.Context, name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
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
		case <-time.After(gitLockRetry):
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), file.Close())
		}
	}
}
