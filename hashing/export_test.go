package hashing

import "bytes"

// T1Bytes returns the bytes that t1 is the SHA-256 of.
func T1Bytes(t *Tree) []byte {
	var b bytes.Buffer
	writeT1(&b, t.Entries)
	return b.Bytes()
}
