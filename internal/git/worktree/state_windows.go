package worktree

import (
	"io/fs"
	"syscall"
	"time"
)

// stateOf has the time of creation as the time of change, as git records it on Windows.
func stateOf(info fs.FileInfo) fileState {
	state := fileState{modified: timestampOf(info.ModTime()), size: uint32(info.Size())} //nolint:gosec // truncated as in the index
	if data, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		state.changed = timestampOf(time.Unix(0, data.CreationTime.Nanoseconds()))
	}
	return state
}
