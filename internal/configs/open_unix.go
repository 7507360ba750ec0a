//go:build unix

package configs

import "syscall"

// openNonblock makes opening a pipe return at once.
const openNonblock = syscall.O_NONBLOCK
