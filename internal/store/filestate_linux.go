package store

import (
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
)

// stateOf returns the system-dependent part of a file's state.
func stateOf(info fs.FileInfo) (fileState, bool) {
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileState{}, false
	}
	return fileState{Changed: sys.Ctim.Nano(), Device: uint64(sys.Dev), Inode: sys.Ino}, true //nolint:unconvert // it has other types elsewhere
}

// isOwn reports whether the user of this process owns an entry.
func isOwn(info fs.FileInfo) bool {
	sys, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Geteuid()
}

// boot returns the name of the system's current boot, or "" if it is not known.
var boot = sync.OnceValue(func() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
})
