//go:build unix

package configs

import "syscall"

// openNonblock lets the opening of a pipe return at once.
const openNonblock = syscall.O_NONBLOCK
