//go:build !unix

package atomicfile

// nonblock is for systems with named pipes in the file system.
const nonblock = 0
