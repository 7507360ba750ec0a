package inprocess

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/cotterpin/cotter/internal/git"
)

// PackStream has the objects of one pack while it is received, and afterwards. Its methods wait for an object, or
// the end of the pack, which alone shows that it was complete. Names are computed from contents, so an object that is
// found by a name has the content for it.
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

	resident, objects int64 // the shares of these names that the reader has taken
}

type entry struct {
	kind   git.Kind
	offset int64 // in the pack
	size   int64
	data   []byte // nil if the content is in the file
	at     int64  // in the file
}

// Wait returns the size of the pack in bytes. The error wraps one of this package, or is that of the stream or of
// dir.
func (p *PackStream) Wait() (bytes int64, err error) {
	<-p.ended
	return p.bytes, p.err
}

// Close may be called while the stream is being read.
func (p *PackStream) Close() error {
	closed := p.stream.Close()
	<-p.ended
	resident.Release(p.resident)
	objects.Release(p.objects)
	p.resident, p.objects = 0, 0
	return errors.Join(closed, p.file.close())
}

func (p *PackStream) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.entries)
}

func (p *PackStream) Stat(name string) (kind git.Kind, size int64, ok bool) {
	e, ok := p.find(name)
	return e.kind, e.size, ok
}

// Read returns content that must not be modified; nil if there is no such object.
func (p *PackStream) Read(name string) ([]byte, error) {
	e, ok := p.find(name)
	if !ok || e.data != nil {
		return e.data, nil
	}
	data := make([]byte, e.size)
	_, err := io.ReadFull(p.content(e), data)
	return data, err
}

// Open returns the content of an object; nil if there is no such object.
func (p *PackStream) Open(name string) *io.SectionReader {
	e, ok := p.find(name)
	if !ok {
		return nil
	}
	return p.content(e)
}

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

func (p *PackStream) byName(key objectName) (entry, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, ok := p.byID[key]
	if !ok {
		return entry{}, false
	}
	return p.entries[i], true
}

// byOffset is for the reader, which alone adds objects.
func (p *PackStream) byOffset(offset int64) (entry, bool) {
	i, ok := slices.BinarySearchFunc(p.entries, offset, func(e entry, at int64) int { return cmp.Compare(e.offset, at) })
	if !ok {
		return entry{}, false
	}
	return p.entries[i], true
}

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

func (p *PackStream) content(e entry) *io.SectionReader {
	if e.data != nil || e.size == 0 {
		return io.NewSectionReader(bytes.NewReader(e.data), 0, e.size)
	}
	return p.file.section(e.at, e.size)
}
