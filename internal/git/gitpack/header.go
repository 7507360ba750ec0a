package gitpack

import (
	"fmt"
	"io"
)

// maxSizeBits bounds the sizes and offsets that are written in groups of bits:
// more would not fit int64.
const maxSizeBits = 60

// entryHeader reads the kind, in the three bits after the highest of the first
// byte, and the size, in the other bits, least significant first.
func (r *reader) entryHeader() (Kind, int64, error) {
	b, err := r.in.ReadByte()
	if err != nil {
		return 0, 0, err
	}
	kind, size := Kind(b>>4&7), int64(b&15)
	for shift := 4; b&0x80 != 0; shift += 7 {
		if shift > maxSizeBits-7 {
			return 0, 0, fmt.Errorf("%w: an object's size is out of range", ErrMalformed)
		}
		if b, err = r.in.ReadByte(); err != nil {
			return 0, 0, err
		}
		size |= int64(b&0x7f) << shift
	}
	return kind, size, nil
}

// base finds the base of a delta at offset.
func (r *reader) base(kind Kind, offset int64) (entry, error) {
	if kind == nameDelta {
		var key id
		if _, err := io.ReadFull(r.in, key[:]); err != nil {
			return entry{}, err
		}
		r.names.wait()
		if base, ok := r.byName(key); ok {
			return base, nil
		}
		return entry{}, ErrBase
	}
	distance, err := r.distance()
	if err != nil {
		return entry{}, err
	}
	if base, ok := r.byOffset(offset - distance); ok {
		return base, nil
	}
	return entry{}, ErrBase
}

// distance reads how far back in the pack a base is: groups of seven bits, the
// most significant first, each but the last one less than it says.
func (r *reader) distance() (int64, error) {
	var distance int64
	for {
		b, err := r.in.ReadByte()
		if err != nil {
			return 0, err
		}
		if distance |= int64(b & 0x7f); b&0x80 == 0 {
			return distance, nil
		}
		if distance >= 1<<(maxSizeBits-7) {
			return 0, fmt.Errorf("%w: a delta's distance is out of range", ErrMalformed)
		}
		distance = (distance + 1) << 7
	}
}
