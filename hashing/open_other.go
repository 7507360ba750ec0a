//go:build !unix

package hashing

// openNonblock is 0 on systems without such a flag.
const openNonblock = 0
