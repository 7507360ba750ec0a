//go:build !unix

package configs

// openNonblock is 0: a directory has no pipes on this system.
const openNonblock = 0
