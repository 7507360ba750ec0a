//go:build unix

package gitdir

import (
	"os"
	"os/user"
	"strconv"
	"syscall"

	"github.com/cotterpin/cotter/internal/process/procgroup"
)

// ownedByUser also returns the other user; "" if the path cannot be looked at.
func ownedByUser(path string, env []string) (own bool, owner string) {
	info, err := os.Lstat(path)
	if err != nil {
		return false, ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false, ""
	}
	uid := uint64(stat.Uid)
	self := uint64(os.Geteuid()) //nolint:gosec // user ids are positive
	if self == 0 && uid != 0 {
		// sudo names the user who called it.
		text, _ := procgroup.Lookup(env, "SUDO_UID")
		if sudo, err := strconv.ParseUint(text, 10, 32); err == nil {
			self = sudo
		}
	}
	if uid == self {
		return true, ""
	}
	owner = strconv.FormatUint(uid, 10)
	if found, err := user.LookupId(owner); err == nil {
		owner = found.Username
	}
	return false, owner
}
