//go:build unix

package configs

import (
	"os"
	"path/filepath"
	"syscall"
)

// ownedByUser reports whether the repository with a top directory belongs to the user.
func ownedByUser(top string) bool {
	info, err := os.Lstat(filepath.Join(top, ".git"))
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
