package gitpack

import (
	"encoding/hex"
	"fmt"
	"os"
	"slices"
)

// Kind is a kind of git objects.
type Kind uint8

// The kinds, by their numbers in packs.
const (
	Commit Kind = 1
	Tree   Kind = 2
	Blob   Kind = 3
	Tag    Kind = 4
)

// String is git's own word for the kind.
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

// idSize is the size of a SHA-1 in bytes.
const idSize = 20

type id [idSize]byte

// entry is an object of the pack.
type entry struct {
	kind   Kind
	offset int64 // in the pack
	size   int64
	data   []byte // nil if it is in the file
	at     int64  // in the file
}

// Objects are the objects of one pack. Close releases them.
type Objects struct {
	// Bytes is the size of the pack.
	Bytes int64

	entries []entry
	byID    map[id]int // the index in entries
	file    spill
}

// Close removes the temporary file, if there is one.
func (o *Objects) Close() error { return o.file.close() }

// Len is the number of objects.
func (o *Objects) Len() int { return len(o.entries) }

// Stat finds an object by its name in hexadecimal digits.
func (o *Objects) Stat(name string) (kind Kind, size int64, ok bool) {
	e, ok := o.find(name)
	return e.kind, e.size, ok
}

// Read returns the content of an object, which must not be changed; nil and no
// error if there is no such object.
func (o *Objects) Read(name string) ([]byte, error) {
	e, ok := o.find(name)
	if !ok {
		return nil, nil
	}
	return o.content(e)
}

func (o *Objects) find(name string) (entry, bool) {
	var key id
	if len(name) != hex.EncodedLen(idSize) {
		return entry{}, false
	}
	if _, err := hex.Decode(key[:], []byte(name)); err != nil {
		return entry{}, false
	}
	return o.byName(key)
}

func (o *Objects) byName(key id) (entry, bool) {
	i, ok := o.byID[key]
	if !ok {
		return entry{}, false
	}
	return o.entries[i], true
}

// byOffset finds the object that begins at this place of the pack.
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

// spill is a temporary file for what memory is not meant for.
type spill struct {
	dir  string
	file *os.File // nil until it is needed
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
