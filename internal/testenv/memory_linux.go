package testenv

import (
	"os"
	"syscall"
)

const (
	sharedMemory = "/dev/shm"
	// room is the free space in bytes that is required there, more than four times what the tests of
	// all packages use together.
	room   = 2 << 30
	noExec = 8 // ST_NOEXEC of statfs(2)
)

// memoryDir returns a directory in memory in which tests may write and execute files, or "" if there
// is none, or if TMPDIR is set. Cotter makes its files durable, which waits for other programs' writes
// on a disk.
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
