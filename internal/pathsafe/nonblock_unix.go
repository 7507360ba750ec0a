//go:build unix

package pathsafe

import "syscall"

// Nonblock is a flag with which opening a named pipe does not wait for a writer, and NoFollow is one
// with which opening a symbolic link fails.
const (
	Nonblock = syscall.O_NONBLOCK
	NoFollow = syscall.O_NOFOLLOW
)
