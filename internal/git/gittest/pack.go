package gittest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git's own checksum
	"encoding/binary"
	"slices"
)

// The kinds of entries in a pack, by gitformat-pack(5).
const (
	PackCommit      = 1
	PackTree        = 2
	PackBlob        = 3
	PackOffsetDelta = 6
	PackRefDelta    = 7
)

// Pack has the entries of a pack. It checks nothing, so that a pack can be one that git refuses.
type Pack struct {
	bytes.Buffer
	Count int // as the header says
}

// Add writes an entry and returns its offset. size is the one that the entry states, and base, which follows it, the
// base of a delta or nil.
func (p *Pack) Add(kind, size int, base, content []byte) (offset int) {
	offset = 12 + p.Len()
	first := byte(kind<<4 | size&15)
	for size >>= 4; size > 0; size >>= 7 {
		p.WriteByte(first | 0x80)
		first = byte(size & 0x7f)
	}
	p.WriteByte(first)
	p.Write(base)
	w := zlib.NewWriter(p)
	_, _ = w.Write(content) // a buffer takes everything
	_ = w.Close()
	p.Count++
	return offset
}

// Blob adds one as it is, without a delta.
func (p *Pack) Blob(content string) (offset int) {
	return p.Add(PackBlob, len(content), nil, []byte(content))
}

// Delta adds one of the entry at an earlier offset.
func (p *Pack) Delta(base int, steps []byte) (offset int) {
	return p.Add(PackOffsetDelta, len(steps), PackDistance(12+p.Len()-base), steps)
}

// PackDistance encodes how far before a delta its base begins.
func PackDistance(distance int) []byte {
	out := []byte{byte(distance & 0x7f)}
	for distance >>= 7; distance > 0; distance >>= 7 {
		distance--
		out = slices.Insert(out, 0, 0x80|byte(distance&0x7f))
	}
	return out
}

// Pack returns the whole pack.
func (p *Pack) Pack() []byte {
	out := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(p.Count)) //nolint:gosec // tests add few
	return SealPack(append(out, p.Bytes()...))
}

// SealPack appends the checksum.
func SealPack(pack []byte) []byte {
	sum := sha1.Sum(pack) //nolint:gosec // see above
	return append(pack, sum[:]...)
}
