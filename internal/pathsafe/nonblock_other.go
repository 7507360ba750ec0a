//go:build !unix

package pathsafe

// Nonblock is 0, because directories contain no pipes on this system.
const Nonblock = 0
