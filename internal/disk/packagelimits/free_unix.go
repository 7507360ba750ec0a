//go:build linux || darwin

package packagelimits

import "syscall"

// freeSpace returns the bytes that this user may still write on the file system of a directory.
func freeSpace(dir string) (bytes int64, ok bool) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil || stat.Bsize <= 0 {
		return 0, false
	}
	// Some file systems, such as those of networks and of user space, do not say how large they are.
	if stat.Blocks == 0 {
		return 0, false
	}
	const most = 1 << 62
	size := uint64(stat.Bsize) //nolint:gosec // it is positive
	if stat.Bavail > most/size {
		return most, true
	}
	return int64(stat.Bavail * size), true //nolint:gosec // it is at most 1 << 62
}
