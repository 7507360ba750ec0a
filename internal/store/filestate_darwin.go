package store

import (
	"io/fs"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// stateOf returns the system-dependent part of a file's state.
func stateOf(info fs.FileInfo) (fileState, bool) {
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileState{}, false
	}
	return fileState{Changed: sys.Ctimespec.Nano(), Device: uint64(uint32(sys.Dev)), Inode: sys.Ino}, true //nolint:gosec // a device number
}

// isOwn reports whether the user of this process owns an entry.
func isOwn(info fs.FileInfo) bool {
	sys, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Geteuid()
}

// boot returns the name of the system's current boot, or "" if it is not known.
var boot = sync.OnceValue(func() string {
	name, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return name
})
