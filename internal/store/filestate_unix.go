//go:build linux || darwin

package store

import (
	"io/fs"
	"os"
	"syscall"
)

// stateOf has what only the system knows.
func stateOf(info fs.FileInfo) (fileState, bool) {
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileState{}, false
	}
	return fileState{Changed: changed(sys), Device: uint64(sys.Dev), Inode: sys.Ino}, true //nolint:gosec,unconvert // the type of the number depends on the system
}

func isOwn(info fs.FileInfo) bool {
	sys, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Geteuid()
}
