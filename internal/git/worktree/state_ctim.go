//go:build unix && !darwin && !freebsd && !netbsd

package worktree

import (
	"syscall"
	"time"
)

func changeTime(stat *syscall.Stat_t) time.Time { return time.Unix(stat.Ctim.Unix()) }
