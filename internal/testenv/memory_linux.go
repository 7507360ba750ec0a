package testenv

import (
	"os"
	"syscall"
)

const (
	// sharedMemory is where Linux systems have a file system in memory.
	sharedMemory = "/dev/shm"
	// room is what has to be free there. The tests of all packages together use
	// less than a quarter of it at any time.
	room = 2 << 30
	// noExec is ST_NOEXEC of statfs(2).
	noExec = 8
)

// memoryDir is a directory in memory where tests may write and execute files, or
// "" without one, or TMPDIR says where temporary files are to be.
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
