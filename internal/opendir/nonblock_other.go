//go:build !unix

package opendir

// Nonblock is 0, because directories contain no pipes on this system.
const Nonblock = 0
