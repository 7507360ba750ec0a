//go:build unix

package main

import (
	"io/fs"
	"syscall"
)

// allocated is what a file takes on the disk in bytes: whole blocks. Of a file
// with several names each name counts its part.
func allocated(info fs.FileInfo) int64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.Size()
	}
	const block = 512 // of stat(2), whatever the file system's are
	size := stat.Blocks * block
	if links := int64(stat.Nlink); links > 1 && !info.IsDir() {
		size /= links
	}
	return size
}
