package inprocess

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // see pack.go
	"hash"
)

// trailer computes the checksum of all data that is written to it except the last bytes, which
// are the expected checksum.
type trailer struct {
	sum  hash.Hash
	last []byte
}

func (t *trailer) Write(p []byte) (int, error) {
	t.last = append(t.last, p...)
	if more := len(t.last) - sha1.Size; more > 0 {
		t.sum.Write(t.last[:more])
		t.last = append(t.last[:0], t.last[more:]...)
	}
	return len(p), nil
}

func (t *trailer) matches() bool { return bytes.Equal(t.sum.Sum(nil), t.last) }
