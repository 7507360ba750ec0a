//go:build unix

package atomicfile

import "syscall"

// nonblock makes opening a pipe return at once instead of waiting for its other end.
const nonblock = syscall.O_NONBLOCK
