//go:build !unix

package hashing

// openNonblock is nothing where it means nothing.
const openNonblock = 0
