package getmodules

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cotterpin/cotter/internal/treewriter"
)

// Sizes of the records of a zip archive, from section 4.3 of PKWARE's APPNOTE 6.3.10.
const (
	zipLocalSize   = 30
	zipCentralSize = 46
	zipEndSize     = 22
	// zipMaxComment is that of a 16 bit length field.
	zipMaxComment = 1<<16 - 1
)

var (
	zipLocalMark      = []byte("PK\x03\x04")
	zipCentralMark    = []byte("PK\x01\x02")
	zipEndMark        = []byte("PK\x05\x06")
	zipDescriptorMark = []byte("PK\x07\x08")
	zip64LocatorMark  = []byte("PK\x06\x07")
)

// errZip64 refuses the 64 bit extension, which repeats other fields. Within the limits, only archives with
// more than 65,534 entries need it.
var errZip64 = fmt.Errorf("%w: zip64; use tar.gz", ErrUnsupportedArchive)

type zipEnd struct {
	entries      int
	offset, size int64 // of the directory
}

// zipEnd finds the last end record, which alone must extend, with its comment, to the end of the file.
func (a *unpacking) zipEnd() (zipEnd, error) {
	start := max(0, a.size-zipEndSize-zipMaxComment)
	tail := make([]byte, a.size-start)
	if _, err := io.ReadFull(readerAt(a.ctx, a.file, start, a.size-start), tail); err != nil {
		return zipEnd{}, err
	}
	at := bytes.LastIndex(tail, zipEndMark)
	if at < 0 || !zipEndReaches(tail[at:]) {
		return zipEnd{}, errors.New("it does not end in a directory: it is truncated, or there is data after its end")
	}
	for other := at; other > 0; {
		if other = bytes.LastIndex(tail[:other], zipEndMark); other >= 0 && zipEndReaches(tail[other:]) {
			return zipEnd{}, errors.New("it has two end records")
		}
	}
	if at >= 20 && bytes.HasPrefix(tail[at-20:], zip64LocatorMark) {
		return zipEnd{}, errZip64
	}
	return parseZipEnd(tail[at:], start+int64(at))
}

func zipEndReaches(record []byte) bool {
	return len(record) >= zipEndSize && len(record) == zipEndSize+int(binary.LittleEndian.Uint16(record[20:]))
}

func parseZipEnd(record []byte, at int64) (zipEnd, error) {
	le := binary.LittleEndian
	entries := le.Uint16(record[10:])
	end := zipEnd{
		entries: int(entries),
		size:    int64(le.Uint32(record[12:])),
		offset:  int64(le.Uint32(record[16:])),
	}
	switch {
	case entries == 1<<16-1 || end.size == 1<<32-1 || end.offset == 1<<32-1:
		return zipEnd{}, errZip64
	case le.Uint16(record[4:]) != 0 || le.Uint16(record[6:]) != 0 || le.Uint16(record[8:]) != entries:
		return zipEnd{}, errors.New("it is one of several volumes")
	case end.offset+end.size != at:
		return zipEnd{}, errors.New("its directory is not at the offset in its end record")
	}
	return end, nil
}

type zipEntry struct {
	name         string
	mode         fs.FileMode
	flags        uint16
	method       uint16
	crc          uint32
	packed, size int64
	offset       int64 // of the local header
	// data is the offset of the content, set by zipLocal.
	data int64
}

// zipDirectory refuses two entries with the same name.
func (a *unpacking) zipDirectory(end zipEnd) ([]*zipEntry, error) {
	r := bufio.NewReader(readerAt(a.ctx, a.file, end.offset, end.size))
	var entries []*zipEntry
	names := make(map[string]bool)
	for range end.entries {
		entry, err := readZipEntry(r)
		if err != nil {
			return nil, fmt.Errorf("directory: %w", err)
		}
		name := entryName(entry.name, entry.mode.IsDir())
		if names[name] {
			return nil, fmt.Errorf("it has two entries %q", entry.name)
		}
		names[name] = true
		entries = append(entries, entry)
	}
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the directory has more entries than its end record says")
	}
	return entries, nil
}

func readZipEntry(r io.Reader) (*zipEntry, error) {
	var head [zipCentralSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("it has fewer entries than its end record says: %w", err)
	}
	if !bytes.HasPrefix(head[:], zipCentralMark) {
		return nil, errors.New("an entry has a wrong signature")
	}
	le := binary.LittleEndian
	rest := make([]byte, int(le.Uint16(head[28:]))+int(le.Uint16(head[30:]))+int(le.Uint16(head[32:])))
	if _, err := io.ReadFull(r, rest); err != nil {
		return nil, err
	}
	name, extra := rest[:le.Uint16(head[28:])], rest[le.Uint16(head[28:]):]
	extra = extra[:le.Uint16(head[30:])]
	entry := &zipEntry{
		name:   string(name),
		flags:  le.Uint16(head[8:]),
		method: le.Uint16(head[10:]),
		crc:    le.Uint32(head[16:]),
		packed: int64(le.Uint32(head[20:])),
		size:   int64(le.Uint32(head[24:])),
		offset: int64(le.Uint32(head[42:])),
	}
	if le.Uint16(head[34:]) != 0 {
		return nil, fmt.Errorf("%q: it is in another volume", name)
	}
	var err error
	entry.mode, err = zipMode(entry.name, head[5], le.Uint32(head[38:]))
	if err = cmp.Or(err, entry.check(extra)); err != nil {
		return nil, fmt.Errorf("%q: %w", name, err)
	}
	return entry, nil
}

func (a *unpacking) entryLimit() int { return cmp.Or(a.limit.Entries, treewriter.DefaultEntries) }
