//go:build !unix

package atomicfile

// nonblock is 0, because there are no named pipes in the file system.
const nonblock = 0
