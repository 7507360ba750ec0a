package inprocess

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/cotterpin/cotter/internal/git"
)

// PackStream has the objects of one pack, while it is received and afterwards. Its methods wait
// until the requested object was received, or the pack has ended. Only the end of the pack shows
// that it was complete.
//
// Each object is inflated once, and its name is computed from its content. An object that is
// found by a name therefore always has the content for that name.
type PackStream struct {
	stream io.Closer
	file   spill
	ended  chan struct{} // closed when the pack has ended

	mu      sync.Mutex
	came    *sync.Cond // signals that an object was named, or that the pack has ended
	entries []entry
	byID    map[objectName]int // the index in entries
	bytes   int64
	isEnded bool
	err     error
}

// entry is an object of the pack.
type entry struct {
	kind   git.Kind
	offset int64 // in the pack
	size   int64
	data   []byte // nil if the content is in the file
	at     int64  // in the file
}

// StartPack starts to read a pack. The stream must end with the pack. Temporary files are
// created in dir. The caller must close the result, which closes the stream.
func StartPack(stream io.ReadCloser, dir string, limits PackLimits) *PackStream {
	p := &PackStream{stream: stream, byID: map[objectName]int{}, file: spill{dir: dir}, ended: make(chan struct{})}
	p.came = sync.NewCond(&p.mu)
	r := &packReader{PackStream: p, packScanner: newPackScanner(stream, limits), names: newNamer(p.name)}
	go func() {
		err := r.scan(r.object)
		if named := r.names.finish(); err == nil {
			err = named
		}
		p.finish(r.packScanner.stream.size, err)
	}()
	return p
}

// Wait waits for the end of the pack and returns its size in bytes. An error means that the
// pack is incomplete or damaged. It wraps [ErrMalformed], [ErrBase], [ErrTooLarge] or
// [ErrCollision], or is the error of the stream or of the directory for temporary files.
func (p *PackStream) Wait() (bytes int64, err error) {
	<-p.ended
	return p.bytes, p.err
}

// Close closes the stream, even while it is being read, and removes the temporary file, if
// there is one.
func (p *PackStream) Close() error {
	closed := p.stream.Close()
	<-p.ended
	return errors.Join(closed, p.file.close())
}

// Len returns the number of objects that were received so far.
func (p *PackStream) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.entries)
}

// Stat returns the kind and size of the object with the given name, in hexadecimal digits.
func (p *PackStream) Stat(name string) (kind git.Kind, size int64, ok bool) {
	e, ok := p.find(name)
	return e.kind, e.size, ok
}

// Read returns the content of an object, which must not be modified. If there is no such
// object, it returns nil and no error.
func (p *PackStream) Read(name string) ([]byte, error) {
	e, ok := p.find(name)
	if !ok {
		return nil, nil
	}
	return p.content(e)
}

// find returns an object, and waits for it if necessary.
func (p *PackStream) find(name string) (entry, bool) {
	var key objectName
	if n, err := hex.Decode(key[:], []byte(name[:min(len(name), git.SHA1Len)])); err != nil || n != len(key) || len(name) != git.SHA1Len {
		return entry{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if i, ok := p.byID[key]; ok {
			return p.entries[i], true
		}
		if p.isEnded {
			return entry{}, false
		}
		p.came.Wait()
	}
}

// byName returns an object by its name, if the name was already computed.
func (p *PackStream) byName(key objectName) (entry, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, ok := p.byID[key]
	if !ok {
		return entry{}, false
	}
	return p.entries[i], true
}

// byOffset returns the object that begins at an offset of the pack. Only the reader may call
// it, because only the reader adds objects.
func (p *PackStream) byOffset(offset int64) (entry, bool) {
	i, ok := slices.BinarySearchFunc(p.entries, offset, func(e entry, at int64) int { return cmp.Compare(e.offset, at) })
	if !ok {
		return entry{}, false
	}
	return p.entries[i], true
}

// push adds an object without a name, and returns its index.
func (p *PackStream) push(e entry) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entries = append(p.entries, e)
	return len(p.entries) - 1
}

func (p *PackStream) name(index int, key objectName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byID[key] = index
	p.came.Broadcast()
}

func (p *PackStream) finish(bytes int64, err error) {
	p.mu.Lock()
	p.bytes, p.err, p.isEnded = bytes, err, true
	p.came.Broadcast()
	p.mu.Unlock()
	close(p.ended)
}

func (p *PackStream) content(e entry) ([]byte, error) {
	if e.data != nil || e.size == 0 {
		return e.data, nil
	}
	return p.file.read(e.at, e.size)
}

// packReader adds the objects of a pack to a PackStream.
type packReader struct {
	*PackStream
	*packScanner
	names    *namer
	delta    bytes.Buffer // reused
	resident int64
}

// object reads one entry: an object, or a delta and the object that it produces.
func (r *packReader) object(e packEntry) error {
	if e.kind == offsetDelta || e.kind == nameDelta {
		return r.undelta(e)
	}
	if err := r.count(e.size); err != nil {
		return err
	}
	data := make([]byte, e.size)
	if err := r.inflateInto(data); err != nil {
		return err
	}
	return r.add(entry{kind: e.kind, offset: e.offset, size: e.size}, data)
}

func (r *packReader) undelta(e packEntry) error {
	base, ok := r.base(e)
	if !ok {
		return ErrBase
	}
	r.delta.Reset()
	r.delta.Grow(int(e.size))
	delta := r.delta.AvailableBuffer()[:e.size]
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
	if err := r.checkSize(d.size); err != nil {
		return err
	}
	if err := r.count(d.size); err != nil {
		return err
	}
	from, err := r.PackStream.content(base)
	if err != nil {
		return err
	}
	data, err := d.apply(from)
	if err != nil {
		return err
	}
	return r.add(entry{kind: base.kind, offset: e.offset, size: d.size}, data)
}

func (r *packReader) inflateInto(data []byte) error {
	return r.packScanner.content(func(in io.Reader) error {
		_, err := io.ReadFull(in, data)
		return err
	})
}

// base returns the base of a delta.
func (r *packReader) base(e packEntry) (entry, bool) {
	if e.kind == offsetDelta {
		return r.byOffset(e.base)
	}
	r.names.wait()
	return r.byName(e.baseID)
}

// add stores an object, and queues it for the computation of its name.
func (r *packReader) add(e entry, data []byte) error {
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
