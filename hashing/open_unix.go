//go:build unix

package hashing

import "syscall"

// openNonblock keeps the os package from trying whether it can wait for a file,
// which takes five system calls. Opening a pipe returns at once, too.
const openNonblock = syscall.O_NONBLOCK
