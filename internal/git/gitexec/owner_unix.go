//go:build unix

package gitexec

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByOther reports whether the owner is neither this user nor root.
func ownedByOther(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid != 0 && int64(stat.Uid) != int64(os.Geteuid())
}
