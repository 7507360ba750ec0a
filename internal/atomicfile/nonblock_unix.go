//go:build unix

package atomicfile

import "syscall"

// nonblock keeps an open from waiting for the other end of a pipe.
const nonblock = syscall.O_NONBLOCK
