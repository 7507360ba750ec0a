package gitpack

import (
	"fmt"
	"io"
)

// maxSizeBits bounds sizes and offsets that are encoded in groups of bits, so that they fit
// into an int64.
const maxSizeBits = 60

// entryHeader reads the kind and the size of an entry. The kind is in the three bits after the
// highest bit of the first byte. The size is in the other bits, least significant first.
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

// base returns the base of the delta at offset.
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

// distance reads how far back in the pack the base of a delta is. It is encoded in groups of
// seven bits, most significant group first. All groups except the last are stored minus one.
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
