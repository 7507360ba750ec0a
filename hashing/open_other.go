//go:build !unix

package hashing

const openNonblock = 0
