package inprocess

import (
	"errors"
	"fmt"
	"io"
)

// delta makes an object of a base, within the sizes that it says, which [PackLimits] has allowed.
type delta struct {
	baseSize, size int64
	steps          byteReader
}

type byteReader interface {
	io.Reader
	io.ByteReader
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

func parseDelta(in byteReader) (d delta, err error) {
	if d.baseSize, err = deltaSize(in); err != nil {
		return delta{}, err
	}
	if d.size, err = deltaSize(in); err != nil {
		return delta{}, err
	}
	d.steps = in
	return d, nil
}

// deltaSize decodes groups of seven bits, least significant first.
func deltaSize(in io.ByteReader) (size int64, err error) {
	for shift := 0; ; shift += 7 {
		b, err := in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return 0, fmt.Errorf("%w: a delta has no size", ErrMalformed)
		case err != nil:
			return 0, err
		case shift > maxSizeBits-7:
			return 0, fmt.Errorf("%w: %w: a delta's size is out of range", ErrMalformed, ErrTooLarge)
		}
		size |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			return size, nil
		}
	}
}

// apply writes the object. buf is for one part of it after the other, and has at least 127 bytes.
func (d delta) apply(base io.ReaderAt, out io.Writer, buf []byte) error {
	made := int64(0)
	for {
		flags, err := d.steps.ReadByte()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		from, length := io.Reader(d.steps), int64(flags)
		if flags&stepCopy != 0 {
			offset, n, err := d.copied(flags)
			if err != nil {
				return err
			}
			from, length = io.NewSectionReader(base, offset, n), n
		} else if length == 0 {
			return errStep // zero is reserved
		}
		if made += length; made > d.size {
			return fmt.Errorf("%w: a delta makes more than it says", ErrMalformed)
		}
		if err := transfer(out, from, length, buf); errors.Is(err, io.ErrUnexpectedEOF) {
			return errStep
		} else if err != nil {
			return err
		}
	}
	if made != d.size {
		return fmt.Errorf("%w: a delta makes less than it says", ErrMalformed)
	}
	return nil
}

var errStep = fmt.Errorf("%w: a delta has an invalid step", ErrMalformed)

// copied reads the rest of a step that copies.
func (d delta) copied(flags byte) (offset, length int64, err error) {
	for i := range offsetBytes + lengthBytes {
		if flags>>i&1 == 0 {
			continue
		}
		b, err := d.steps.ReadByte()
		if errors.Is(err, io.EOF) {
			return 0, 0, fmt.Errorf("%w: a delta ends early", ErrMalformed)
		} else if err != nil {
			return 0, 0, err
		}
		if i < offsetBytes {
			offset |= int64(b) << (8 * i)
		} else {
			length |= int64(b) << (8 * (i - offsetBytes))
		}
	}
	if length == 0 {
		length = lengthZero
	}
	if offset+length > d.baseSize {
		return 0, 0, fmt.Errorf("%w: a delta copies from beyond its base", ErrMalformed)
	}
	return offset, length, nil
}

// transfer copies n bytes, or returns io.ErrUnexpectedEOF. io.CopyN would allocate a buffer for each step of a delta.
func transfer(out io.Writer, in io.Reader, n int64, buf []byte) error {
	for n > 0 {
		part := buf[:min(n, int64(len(buf)))]
		if _, err := io.ReadFull(in, part); errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		} else if err != nil {
			return err
		}
		if _, err := out.Write(part); err != nil {
			return err
		}
		n -= int64(len(part))
	}
	return nil
}
