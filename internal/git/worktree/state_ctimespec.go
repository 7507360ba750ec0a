//go:build darwin || freebsd || netbsd

package worktree

import (
	"syscall"
	"time"
)

// changeTime returns the time at which the file or its metadata changed.
func changeTime(stat *syscall.Stat_t) time.Time { return time.Unix(stat.Ctimespec.Unix()) }
