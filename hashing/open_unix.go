//go:build unix

package hashing

import "syscall"

// openNonblock prevents the os package from trying to poll a file, which takes five system
// calls. It also makes opening a pipe return at once.
const openNonblock = syscall.O_NONBLOCK
