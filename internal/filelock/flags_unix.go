//go:build unix

package filelock

import (
	"runtime"
	"syscall"
)

const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// needsWriting reports whether an exclusive lock requires a file that is open for writing.
const needsWriting = runtime.GOOS == "aix" || runtime.GOOS == "solaris" || runtime.GOOS == "illumos"
