//go:build unix

package pathsafe

import "syscall"

// Nonblock is the flag with which opening a pipe returns at once.
const Nonblock = syscall.O_NONBLOCK
