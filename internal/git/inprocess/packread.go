package inprocess

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	"github.com/pjbgf/sha1cd"
)

// StartPack reads a stream that must end with the pack. The caller must close the result.
func StartPack(stream io.ReadCloser, dir string, limits PackLimits) *PackStream {
	p := &PackStream{stream: stream, byID: map[objectName]int{}, file: spill{dir: dir, disk: limits.Disk}, ended: make(chan struct{})}
	p.came = sync.NewCond(&p.mu)
	r := newPackReader(p, stream, limits)
	go func() { p.finish(r.read()) }()
	return p
}

// packReader adds the objects of a pack to a stream.
type packReader struct {
	*PackStream
	*packScanner
	names *namer
	// These are reused.
	delta bytes.Buffer
	buf   [readBuffer]byte
	sum   hash.Hash
	// deltas has one large delta after the other, until all of it has come: the memory for its base is not taken before.
	deltas spill
}

func newPackReader(p *PackStream, stream io.Reader, limits PackLimits) *packReader {
	return &packReader{
		PackStream: p, packScanner: newPackScanner(stream, limits), names: newNamer(p.name), sum: sha1cd.New(), deltas: spill{dir: p.file.dir, disk: limits.Disk},
	}
}

func (r *packReader) read() (bytes int64, err error) {
	err = r.scan(r.begin, r.object)
	named, closed := r.names.finish(), r.deltas.close()
	if err == nil {
		err = errors.Join(named, closed)
	}
	return r.packScanner.stream.size, err
}

func (r *packReader) begin(count int) error {
	if !objects.TryAcquire(int64(count)) {
		return fmt.Errorf("%w: it has %d objects, and other packs are being read that have many, too", ErrTooLarge, count)
	}
	r.objects = int64(count)
	return nil
}

func (r *packReader) object(e packEntry) error {
	if e.kind == offsetDelta || e.kind == nameDelta {
		return r.undelta(e)
	}
	if err := r.count(e.size); err != nil {
		return err
	}
	return r.add(entry{kind: e.kind, offset: e.offset, size: e.size}, func(out io.Writer) error {
		return r.inflateTo(out, e.size)
	})
}

func (r *packReader) undelta(e packEntry) error {
	base, ok := r.baseOf(e)
	if !ok {
		return ErrBase
	}
	steps, err := r.steps(e.size)
	if err != nil {
		return err
	}
	d, err := parseDelta(steps)
	if err != nil {
		return err
	}
	if d.baseSize != base.size {
		return fmt.Errorf("%w: a delta is for a base of %d bytes, and its base has %d", ErrMalformed, d.baseSize, base.size)
	}
	if err := r.checkSize(d.size); err != nil {
		return err
	}
	if err := r.count(d.size); err != nil {
		return err
	}
	from, release, err := r.base(base)
	if err != nil {
		return err
	}
	defer release()
	return r.add(entry{kind: base.kind, offset: e.offset, size: d.size}, func(out io.Writer) error {
		return d.apply(from, out, r.buf[:])
	})
}

func (r *packReader) baseOf(e packEntry) (entry, bool) {
	if e.kind == offsetDelta {
		return r.byOffset(e.base)
	}
	r.names.wait()
	return r.byName(e.baseID)
}

// base returns the content of an object to which a delta is applied. release must be called before anything else is
// waited for.
func (r *packReader) base(e entry) (content io.ReaderAt, release func(), err error) {
	content, release = r.PackStream.content(e), func() {}
	if e.data != nil || e.size > baseBytes {
		return content, release, nil
	}
	if e.size > wholeBytes {
		if err := bases.Acquire(context.Background(), e.size); err != nil {
			return nil, nil, err
		}
		release = func() { bases.Release(e.size) }
	}
	data := make([]byte, e.size)
	if _, err := io.ReadFull(io.NewSectionReader(content, 0, e.size), data); err != nil {
		release()
		return nil, nil, err
	}
	return bytes.NewReader(data), release, nil
}

// steps reads a delta to its end.
func (r *packReader) steps(size int64) (byteReader, error) {
	if size <= wholeBytes {
		r.delta.Reset()
		err := r.inflateTo(&r.delta, size)
		return &r.delta, err
	}
	if err := r.deltas.reset(); err != nil {
		return nil, err
	}
	if err := r.inflateTo(&r.deltas, size); err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(r.deltas.section(0, size), readBuffer), nil
}

// inflateTo returns an error of out as it is, because the pack did not cause it.
func (r *packReader) inflateTo(out io.Writer, size int64) error {
	to := &keptError{Writer: out}
	err := r.packScanner.content(func(in io.Reader) error { return transfer(to, in, size, r.buf[:]) })
	if to.err != nil {
		return to.err
	}
	return err
}

type keptError struct {
	io.Writer
	err error
}

func (k *keptError) Write(p []byte) (n int, err error) {
	n, k.err = k.Writer.Write(p)
	return n, k.err
}

// add adds an object whose content make writes.
func (r *packReader) add(e entry, make func(out io.Writer) error) error {
	if e.size > wholeBytes {
		return r.addLarge(e, make)
	}
	content := bytes.NewBuffer(nil)
	content.Grow(int(e.size))
	if err := make(content); err != nil {
		return err
	}
	data := content.Bytes()
	if r.resident+e.size <= r.limits.MemoryBytes && resident.TryAcquire(e.size) {
		r.resident += e.size
		e.data = data
	} else {
		e.at = r.file.size
		if _, err := r.file.Write(data); err != nil {
			return err
		}
	}
	r.names.add(unnamed{index: r.push(e), kind: e.kind, data: data})
	return nil
}

// addLarge writes the object to the file, and computes its name meanwhile.
func (r *packReader) addLarge(e entry, make func(out io.Writer) error) error {
	e.at = r.file.size
	r.sum.Reset()
	begin(r.sum, e.kind, e.size)
	out := bufio.NewWriterSize(io.MultiWriter(&r.file, r.sum), readBuffer)
	if err := errors.Join(make(out), out.Flush()); err != nil {
		return err
	}
	key, err := nameOf(r.sum)
	if err != nil {
		return err
	}
	r.name(r.push(e), key)
	return nil
}
