//go:build !unix

package configs

// openNonblock is nothing where a directory cannot hold a pipe.
const openNonblock = 0
