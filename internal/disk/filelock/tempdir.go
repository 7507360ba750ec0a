package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// leftAfter is how old a directory of [MkdirTemp] of another boot must be before it is removed. A machine that shares the
// file system may hold it, and some file systems do not show that to others.
const leftAfter = 24 * time.Hour

// MkdirTemp is [pathsafe.MkdirTemp] for a directory that this process holds until remove. It also removes directories
// with the prefix, which must be of one purpose, that processes have left there when they were killed. Their names have
// the boot, whose processes see each other's locks, those in containers too.
func MkdirTemp(prefix string) (dir string, remove func(), err error) {
	for {
		dir, err = pathsafe.MkdirTemp(prefix + ofBoot())
		if err != nil {
			return "", nil, err
		}
		lock := Dir(dir)
		held, err := lock.TryExclusive()
		_, missing := os.Lstat(dir)
		// Where directories cannot be locked, none is removed.
		if errors.Is(err, ErrUnsupported) || held && missing == nil {
			removeLeft(filepath.Dir(dir), prefix)
			return dir, func() {
				_ = atomicfile.RemoveAll(dir) // a later process removes what is left
				_ = lock.Release()
			}, nil
		}
		_ = lock.Release() // another process has removed the directory, because it was not held yet
	}
}

// ofBoot begins the names of directories of this boot, after their prefix. It is "" if the boot is not known.
func ofBoot() string {
	boot := strings.ReplaceAll(Boot(), "-", "")
	if len(boot) < 8 {
		return ""
	}
	return boot[:8] + "-" // short, because paths of sockets are limited
}

// removeLeft ignores failures: another process can remove the same directories.
func removeLeft(parent, prefix string) {
	all, err := os.Open(parent)
	if err != nil {
		return
	}
	names, _ := all.Readdirnames(-1)
	_ = all.Close() // nothing was written
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			seen := ofBoot() != "" && strings.HasPrefix(name, prefix+ofBoot())
			removeUnheld(filepath.Join(parent, name), seen)
		}
	}
}

// removeUnheld removes a directory that no process holds. seen says that a lock on it would be seen.
func removeUnheld(dir string, seen bool) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || !seen && time.Since(info.ModTime()) < leftAfter {
		return
	}
	lock := Dir(dir)
	if held, err := lock.TryExclusive(); !held || err != nil {
		return
	}
	if lock.IsAt(dir) {
		_ = atomicfile.RemoveAll(dir)
	}
	_ = lock.Release()
}
