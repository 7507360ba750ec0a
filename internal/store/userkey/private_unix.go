//go:build unix

package userkey

import (
	"io/fs"
	"os"
	"syscall"
)

func isPrivate(info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}
