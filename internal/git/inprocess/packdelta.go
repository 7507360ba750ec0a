package inprocess

import "fmt"

// delta never uses more memory than its sizes say, which [PackLimits] has allowed.
type delta struct {
	baseSize, size int64
	steps          []byte
}

// If the highest bit of the first byte of a step is set, it copies from the base: the lower four bits say which
// bytes of the offset follow, and the three above them which of the length. Any other byte but zero is a number of
// bytes to insert, which follow.
const (
	stepCopy    = 0x80
	offsetBytes = 4
	lengthBytes = 3
	// lengthZero is what a length of zero means.
	lengthZero = 0x10000
)

func parseDelta(data []byte) (d delta, err error) {
	if d.baseSize, data, err = deltaSize(data); err != nil {
		return delta{}, err
	}
	if d.size, data, err = deltaSize(data); err != nil {
		return delta{}, err
	}
	d.steps = data
	return d, nil
}

// deltaSize decodes groups of seven bits, least significant first.
func deltaSize(data []byte) (size int64, rest []byte, err error) {
	for i, b := range data {
		shift := 7 * i
		if shift > maxSizeBits-7 {
			return 0, nil, fmt.Errorf("%w: %w: a delta's size is out of range", ErrMalformed, ErrTooLarge)
		}
		size |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			return size, data[i+1:], nil
		}
	}
	return 0, nil, fmt.Errorf("%w: a delta has no size", ErrMalformed)
}

func (d delta) apply(base []byte) ([]byte, error) {
	out := make([]byte, 0, d.size)
	for steps := d.steps; len(steps) > 0; {
		var from []byte
		var err error
		if steps[0]&stepCopy != 0 {
			from, steps, err = copied(base, steps)
		} else {
			from, steps, err = inserted(steps)
		}
		if err != nil {
			return nil, err
		}
		if int64(len(out)+len(from)) > d.size {
			return nil, fmt.Errorf("%w: a delta makes more than it says", ErrMalformed)
		}
		out = append(out, from...)
	}
	if int64(len(out)) != d.size {
		return nil, fmt.Errorf("%w: a delta makes less than it says", ErrMalformed)
	}
	return out, nil
}

func copied(base, steps []byte) (from, rest []byte, err error) {
	flags := steps[0]
	rest = steps[1:]
	number := func(flags byte, count int) (n int64) {
		for i := range count {
			if flags>>i&1 == 0 {
				continue
			}
			if len(rest) == 0 {
				err = fmt.Errorf("%w: a delta ends early", ErrMalformed)
				return 0
			}
			n |= int64(rest[0]) << (8 * i)
			rest = rest[1:]
		}
		return n
	}
	offset := number(flags, offsetBytes)
	length := number(flags>>offsetBytes, lengthBytes)
	if err != nil {
		return nil, nil, err
	}
	if length == 0 {
		length = lengthZero
	}
	if offset+length > int64(len(base)) {
		return nil, nil, fmt.Errorf("%w: a delta copies from beyond its base", ErrMalformed)
	}
	return base[offset : offset+length], rest, nil
}

func inserted(steps []byte) (from, rest []byte, err error) {
	n, rest := int(steps[0]), steps[1:]
	if n == 0 || n > len(rest) {
		return nil, nil, fmt.Errorf("%w: a delta has an invalid step", ErrMalformed)
	}
	return rest[:n], rest[n:], nil
}
