package hashing

import "bytes"

// T1Bytes returns the bytes whose SHA-256 is t1.
func T1Bytes(t *Tree) []byte {
	var b bytes.Buffer
	writeT1(&b, t.Entries)
	return b.Bytes()
}
