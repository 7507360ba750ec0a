//go:build unix

package worktree

import (
	"io/fs"
	"syscall"
)

func stateOf(info fs.FileInfo) fileState {
	state := fileState{modified: timestampOf(info.ModTime()), size: uint32(info.Size())} //nolint:gosec // truncated as in the index
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		state.changed, state.inode = timestampOf(changeTime(stat)), uint32(stat.Ino) //nolint:gosec // see above
	}
	return state
}
