//go:build !unix

package configs

// openNonblock is 0, because directories contain no pipes on this system.
const openNonblock = 0
