package gitpack

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
)

// Limits bound one pack. All of them must be set.
type Limits struct {
	// Objects bounds the number of objects.
	Objects int
	// ObjectBytes bounds the size of one object. Up to three objects of this size are in memory
	// while a delta is applied.
	ObjectBytes int64
	// TotalBytes bounds the sum of the objects' sizes.
	TotalBytes int64
	// MemoryBytes is how much of TotalBytes is kept in memory. Exceeding it is not an error:
	// the rest goes to a temporary file.
	MemoryBytes int64
}

// The kinds of deltas, with their numbers in packs.
const (
	offsetDelta Kind = 6
	nameDelta   Kind = 7
)

const (
	packVersion = 2
	packHeader  = 12
	readBuffer  = 32 << 10
)

// reader reads one pack.
type reader struct {
	*Objects
	limits  Limits
	stream  *checked
	in      *bufio.Reader
	inflate io.ReadCloser
	names   *namer
	delta   bytes.Buffer // reused
	inflated,
	resident int64
}

// Start starts to read a pack. The stream must end with the pack. Temporary files are created
// in dir. The caller must close the objects, which closes the stream.
func Start(stream io.ReadCloser, dir string, limits Limits) *Objects {
	o := &Objects{stream: stream, byID: map[id]int{}, file: spill{dir: dir}, ended: make(chan struct{})}
	o.came = sync.NewCond(&o.mu)
	r := &reader{Objects: o, limits: limits, stream: newChecked(stream), names: newNamer(o)}
	r.in = bufio.NewReaderSize(r.stream, readBuffer)
	go func() {
		err := r.read()
		if named := r.names.finish(); err == nil {
			err = named
		}
		o.finish(r.stream.size, err)
	}()
	return o
}

func (r *reader) read() error {
	count, err := r.header()
	for ; err == nil && count > 0; count-- {
		err = r.object()
	}
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return r.streamError(err)
	}
	return nil
}

// streamError returns the error of the stream, if there is one, instead of err, which is its
// consequence.
func (r *reader) streamError(err error) error {
	if r.stream.err != nil {
		return r.stream.err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends early", ErrMalformed)
	}
	return err
}

// header reads the signature, the version and the number of objects.
func (r *reader) header() (count int, err error) {
	var head [packHeader]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil {
		return 0, err
	}
	if string(head[:4]) != "PACK" || binary.BigEndian.Uint32(head[4:]) != packVersion {
		return 0, fmt.Errorf("%w: it does not begin like a pack of version %d", ErrMalformed, packVersion)
	}
	n := binary.BigEndian.Uint32(head[8:])
	if int64(n) > int64(r.limits.Objects) {
		return 0, fmt.Errorf("%w: it has %d objects, over %d", ErrTooLarge, n, r.limits.Objects)
	}
	return int(n), nil
}

// object reads one entry. It has the kind and the size, the base if it is a delta, and the
// compressed content or delta.
func (r *reader) object() error {
	offset := r.stream.size - int64(r.in.Buffered())
	kind, size, err := r.entryHeader()
	if err != nil {
		return err
	}
	if size > r.limits.ObjectBytes {
		return fmt.Errorf("%w: an object has %d bytes, over %d", ErrTooLarge, size, r.limits.ObjectBytes)
	}
	switch kind {
	case Commit, Tree, Blob, Tag:
		if err := r.count(size); err != nil {
			return err
		}
		data := make([]byte, size)
		if err := r.inflateInto(data); err != nil {
			return err
		}
		return r.add(entry{kind: kind, offset: offset, size: size}, data)
	case offsetDelta, nameDelta:
		base, err := r.base(kind, offset)
		if err != nil {
			return err
		}
		return r.undelta(base, offset, size)
	}
	return fmt.Errorf("%w: an object of an unknown kind %d", ErrMalformed, kind)
}

// undelta reads a delta of the given size and applies it.
func (r *reader) undelta(base entry, offset, size int64) error {
	r.delta.Reset()
	r.delta.Grow(int(size))
	delta := r.delta.AvailableBuffer()[:size]
	if err := r.inflateInto(delta); err != nil {
		return err
	}
	d, err := parseDelta(delta)
	if err != nil {
		return err
	}
	if d.baseSize != base.size {
		return fmt.Errorf("%w: a delta is for a base of %d bytes, and its base has %d", ErrMalformed, d.baseSize, base.size)
	}
	if d.size > r.limits.ObjectBytes {
		return fmt.Errorf("%w: an object has %d bytes, over %d", ErrTooLarge, d.size, r.limits.ObjectBytes)
	}
	if err := r.count(d.size); err != nil {
		return err
	}
	from, err := r.content(base)
	if err != nil {
		return err
	}
	data, err := d.apply(from)
	if err != nil {
		return err
	}
	return r.add(entry{kind: base.kind, offset: offset, size: d.size}, data)
}

// count adds to the sum of the sizes. It is called before memory is allocated.
func (r *reader) count(size int64) error {
	if r.inflated += size; r.inflated > r.limits.TotalBytes {
		return fmt.Errorf("%w: its objects have more than %d bytes", ErrTooLarge, r.limits.TotalBytes)
	}
	return nil
}

// inflateInto inflates a compressed stream into data. The content must have exactly the length
// of data.
func (r *reader) inflateInto(data []byte) error {
	var err error
	if r.inflate == nil {
		r.inflate, err = zlib.NewReader(r.in)
	} else {
		err = r.inflate.(zlib.Resetter).Reset(r.in, nil)
	}
	if err == nil {
		_, err = io.ReadFull(r.inflate, data)
	}
	if err == nil {
		// The checksum of the stream is checked only at its end.
		var more [1]byte
		if _, err = io.ReadFull(r.inflate, more[:]); err == nil {
			err = errors.New("an object is longer than it says")
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

// add stores an object, and queues it for the computation of its name.
func (r *reader) add(e entry, data []byte) error {
	if r.resident+e.size <= r.limits.MemoryBytes {
		r.resident += e.size
		e.data = data
	} else {
		var err error
		if e.at, err = r.file.write(data); err != nil {
			return err
		}
	}
	r.names.add(unnamed{index: r.push(e), kind: e.kind, data: data})
	return nil
}

// end checks the end of the pack: the checksum follows the last object, and no other data.
func (r *reader) end() error {
	if _, err := io.CopyN(io.Discard, r.in, idSize); err != nil {
		return err
	}
	if _, err := r.in.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: bytes follow its end", ErrMalformed)
	}
	if !r.stream.matches() {
		return fmt.Errorf("%w: its checksum does not match", ErrMalformed)
	}
	return nil
}
