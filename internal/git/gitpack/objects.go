package gitpack

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

// Kind is a kind of git object.
type Kind uint8

// The kinds, with their numbers in packs.
const (
	Commit Kind = 1
	Tree   Kind = 2
	Blob   Kind = 3
	Tag    Kind = 4
)

// String returns git's name for the kind.
func (k Kind) String() string {
	switch k {
	case Commit:
		return "commit"
	case Tree:
		return "tree"
	case Blob:
		return "blob"
	case Tag:
		return "tag"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// idSize is the size of a SHA-1 hash, in bytes.
const idSize = 20

type id [idSize]byte

// entry is an object of the pack.
type entry struct {
	kind   Kind
	offset int64 // in the pack
	size   int64
	data   []byte // nil if the content is in the file
	at     int64  // in the file
}

// Objects are the objects of one pack, while it is read and afterwards. Its methods wait until
// the requested object was received, or the pack has ended.
type Objects struct {
	stream io.Closer
	file   spill
	ended  chan struct{} // closed when the pack has ended

	mu      sync.Mutex
	came    *sync.Cond // signals that an object was named, or that the pack has ended
	entries []entry
	byID    map[id]int // the index in entries
	bytes   int64
	isEnded bool
	err     error
}

// Wait waits for the end of the pack and returns its size in bytes. An error means that the
// pack is incomplete or damaged. It wraps an error of this package, or is the error of the
// stream or of the directory for temporary files.
func (o *Objects) Wait() (bytes int64, err error) {
	<-o.ended
	return o.bytes, o.err
}

// Close closes the stream, even while it is being read, and removes the temporary file, if
// there is one.
func (o *Objects) Close() error {
	closed := o.stream.Close()
	<-o.ended
	return errors.Join(closed, o.file.close())
}

// Len returns the number of objects that were received so far.
func (o *Objects) Len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.entries)
}

// Stat returns the kind and size of the object with the given name, in hexadecimal digits.
func (o *Objects) Stat(name string) (kind Kind, size int64, ok bool) {
	e, ok := o.find(name)
	return e.kind, e.size, ok
}

// Read returns the content of an object, which must not be modified. If there is no such
// object, it returns nil and no error.
func (o *Objects) Read(name string) ([]byte, error) {
	e, ok := o.find(name)
	if !ok {
		return nil, nil
	}
	return o.content(e)
}

// find returns an object, and waits for it if necessary.
func (o *Objects) find(name string) (entry, bool) {
	var key id
	if len(name) != hex.EncodedLen(idSize) {
		return entry{}, false
	}
	if _, err := hex.Decode(key[:], []byte(name)); err != nil {
		return entry{}, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		if i, ok := o.byID[key]; ok {
			return o.entries[i], true
		}
		if o.isEnded {
			return entry{}, false
		}
		o.came.Wait()
	}
}

// byName returns an object by its name, if the name was already computed.
func (o *Objects) byName(key id) (entry, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i, ok := o.byID[key]
	if !ok {
		return entry{}, false
	}
	return o.entries[i], true
}

// push adds an object without a name, and returns its index.
func (o *Objects) push(e entry) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.entries = append(o.entries, e)
	return len(o.entries) - 1
}

func (o *Objects) name(index int, key id) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byID[key] = index
	o.came.Broadcast()
}

func (o *Objects) finish(bytes int64, err error) {
	o.mu.Lock()
	o.bytes, o.err, o.isEnded = bytes, err, true
	o.came.Broadcast()
	o.mu.Unlock()
	close(o.ended)
}

// byOffset returns the object that begins at an offset of the pack. Only the reader may call
// it, because only the reader adds objects.
func (o *Objects) byOffset(offset int64) (entry, bool) {
	i, ok := slices.BinarySearchFunc(o.entries, offset, func(e entry, at int64) int {
		switch {
		case e.offset < at:
			return -1
		case e.offset > at:
			return 1
		}
		return 0
	})
	if !ok {
		return entry{}, false
	}
	return o.entries[i], true
}

func (o *Objects) content(e entry) ([]byte, error) {
	if e.data != nil || e.size == 0 {
		return e.data, nil
	}
	return o.file.read(e.at, e.size)
}

// spill is a temporary file for content that is not kept in memory.
type spill struct {
	dir  string
	file *os.File // nil before the first write
	size int64
}

func (s *spill) write(data []byte) (at int64, err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.dir, ".objects-*"); err != nil {
			return 0, err
		}
	}
	at = s.size
	n, err := s.file.Write(data)
	s.size += int64(n)
	return at, err
}

func (s *spill) read(at, size int64) ([]byte, error) {
	data := make([]byte, size)
	_, err := s.file.ReadAt(data, at)
	return data, err
}

func (s *spill) close() error {
	if s.file == nil {
		return nil
	}
	closed := s.file.Close()
	removed := os.Remove(s.file.Name())
	s.file = nil
	if closed != nil {
		return closed
	}
	return removed
}
