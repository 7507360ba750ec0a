package hashing

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
)

// T1 returns the t1 hash of the tree, which covers all that an [Entry] says.
func (t *Tree) T1() Hash {
	hash := sha256.New()
	writeT1(hash, t.Entries)
	return encode(schemeT1, hash.Sum(nil))
}

// writeT1 writes the bytes that t1 is the SHA-256 of. The writer must not fail,
// as hashes do not.
func writeT1(w io.Writer, entries []Entry) {
	record := appendField(nil, schemeT1)
	record = binary.BigEndian.AppendUint64(record, uint64(len(entries)))
	_, _ = w.Write(record)
	for _, e := range entries {
		size, sum := e.content()
		record = appendField(record[:0], e.Path)
		record = append(record, byte(e.Kind))
		record = binary.BigEndian.AppendUint64(record, size)
		record = append(record, sum[:]...)
		_, _ = w.Write(record)
	}
}

// appendField appends a string with its length in front.
func appendField(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
}

// content returns the size and the sum of what an entry itself holds. The
// content of a link is its target, not the file behind it.
func (e Entry) content() (size uint64, sum [32]byte) {
	if e.isFile() {
		return uint64(e.Size), e.Sum
	}
	return uint64(len(e.Target)), sha256.Sum256([]byte(e.Target))
}
