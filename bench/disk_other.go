//go:build !unix

package main

import "io/fs"

// allocated returns the size, without the number of blocks.
func allocated(info fs.FileInfo) int64 { return info.Size() }
