//go:build unix

package pathsafe

import "syscall"

// With Nonblock, opening a named pipe does not wait for a writer. With NoFollow, opening a symbolic link
// fails.
const (
	Nonblock = syscall.O_NONBLOCK
	NoFollow = syscall.O_NOFOLLOW
)
