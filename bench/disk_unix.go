//go:build unix

package main

import (
	"io/fs"
	"syscall"
)

// allocated is in bytes, in whole blocks, divided by the number of names of the file.
func allocated(info fs.FileInfo) int64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.Size()
	}
	const block = 512 // the unit of stat(2), which does not depend on the file system
	size := stat.Blocks * block
	if links := int64(stat.Nlink); links > 1 && !info.IsDir() {
		size /= links
	}
	return size
}
