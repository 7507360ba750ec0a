package testenv

import (
	"os"
	"syscall"
)

const (
	// sharedMemory is the directory at which Linux systems have a file system in memory.
	sharedMemory = "/dev/shm"
	// room is the free space in bytes that is required there. The tests of all packages together
	// use less than a quarter of it at any time.
	room = 2 << 30
	// noExec is ST_NOEXEC of statfs(2).
	noExec = 8
)

// memoryDir returns a directory in memory in which tests may write and execute files. It returns
// "" if there is none, or if TMPDIR is set.
func memoryDir() string {
	var s syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(sharedMemory, &s) != nil {
		return ""
	}
	if s.Flags&noExec != 0 || s.Bavail*uint64(s.Bsize) < room { //nolint:gosec // a size of blocks is positive
		return ""
	}
	probe, err := os.MkdirTemp(sharedMemory, prefix)
	if err != nil {
		return ""
	}
	if os.Remove(probe) != nil {
		return ""
	}
	return sharedMemory
}
