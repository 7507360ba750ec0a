package filelock

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/pathsafe"
)

// leftAfter is how old a directory of [MkdirTemp] must be before another process may remove it. On some file systems, this
// machine does not see that another one holds it.
const leftAfter = 24 * time.Hour

// MkdirTemp is [pathsafe.MkdirTemp] for a directory that this process holds until remove. It also removes directories
// with the prefix, which must be of one purpose, that processes have left there when they were killed.
func MkdirTemp(prefix string) (dir string, remove func(), err error) {
	dir, err = pathsafe.MkdirTemp(prefix)
	if err != nil {
		return "", nil, err
	}
	lock := Dir(dir)
	_, _ = lock.TryExclusive() // where directories cannot be locked, none is removed
	removeLeft(filepath.Dir(dir), prefix)
	return dir, func() {
		_ = atomicfile.RemoveAll(dir) // a later process removes what is left
		_ = lock.Release()
	}, nil
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
			removeUnheld(filepath.Join(parent, name))
		}
	}
}

func removeUnheld(dir string) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || time.Since(info.ModTime()) < leftAfter {
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
