package zipfile

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
)

// Sizes of the records of a zip archive, from section 4.3 of PKWARE's APPNOTE 6.3.10.
const (
	zipLocalSize     = 30
	zipCentralSize   = 46
	zipEndSize       = 22
	zip64EndSize     = 56 // without the data that extends it
	zip64LocatorSize = 20
	// zipMaxComment is that of a 16 bit length field.
	zipMaxComment = 1<<16 - 1
)

var (
	zipLocalMark      = []byte("PK\x03\x04")
	zipCentralMark    = []byte("PK\x01\x02")
	zipEndMark        = []byte("PK\x05\x06")
	zipDescriptorMark = []byte("PK\x07\x08")
	zip64EndMark      = []byte("PK\x06\x06")
	zip64LocatorMark  = []byte("PK\x06\x07")
)

// A field of 16 or 32 bits with all bits set has its value in the 64 bit extension, zip64. Programs that do not know
// it, or use it only for such fields, must read the same, so other fields have to agree with it.
const (
	zip64Marker16 = 1<<16 - 1
	zip64Marker32 = 1<<32 - 1
)

// Limits are checked before the directory is read.
type Limits struct {
	// Entries is the maximum number of entries. More are a *[packagelimits.Error].
	Entries int
	// DirectoryBytes is the maximum size of the directory; 0 means none. Above it, the error is [ErrLargeDirectory].
	DirectoryBytes int64
	// Grow, if it is not nil, gets the number of entries. Its error is that of [Open].
	Grow func(entries int64) error
}

// ErrLargeDirectory says that the directory exceeds [Limits].
var ErrLargeDirectory = errors.New("its directory is too large")

// Archive is a zip archive. It is not safe for concurrent use.
type Archive struct {
	// Entries are in the order of their contents after [Archive.Check], and before in that of the directory.
	Entries []*Entry

	file    io.ReaderAt
	size    int64
	offset  int64 // of the directory
	checked bool
	// packed and inflated read the entries, one after the other.
	packed   *bufio.Reader
	inflated io.ReadCloser
}

// Open reads the directory of an archive. [Archive.Check] must follow before any content is read.
func Open(file io.ReaderAt, size int64, limits Limits) (*Archive, error) {
	a := &Archive{file: file, size: size}
	end, err := a.end()
	if err != nil {
		return nil, &Error{Err: err}
	}
	if most := int64(limits.Entries); end.entries > most {
		return nil, &packagelimits.Error{Limit: packagelimits.OfEntries, Size: end.entries, Max: most}
	}
	if limits.DirectoryBytes > 0 && end.size > limits.DirectoryBytes {
		return nil, &Error{Err: ErrLargeDirectory}
	}
	if limits.Grow != nil {
		if err := limits.Grow(end.entries); err != nil {
			return nil, err
		}
	}
	a.offset = end.offset
	if a.Entries, err = a.directory(end); err != nil {
		return nil, asError("", err)
	}
	return a, nil
}

type zipEnd struct {
	entries      int64
	offset, size int64 // of the directory
}

// end finds the last end record, which alone must extend, with its comment, to the end of the file.
func (a *Archive) end() (zipEnd, error) {
	start := max(0, a.size-zipEndSize-zipMaxComment-zip64LocatorSize)
	tail := make([]byte, a.size-start)
	if _, err := io.ReadFull(io.NewSectionReader(a.file, start, a.size-start), tail); err != nil {
		return zipEnd{}, err
	}
	at := bytes.LastIndex(tail, zipEndMark)
	if at < 0 {
		return zipEnd{}, errors.New("it is not a zip file, or is truncated")
	}
	if !zipEndReaches(tail[at:]) {
		return zipEnd{}, errors.New("it does not end in a directory: it is truncated, or there is data after its end")
	}
	for other := at; other > 0; {
		if other = bytes.LastIndex(tail[:other], zipEndMark); other >= 0 && zipEndReaches(tail[other:]) {
			return zipEnd{}, errors.New("it has two end records")
		}
	}
	short, err := parseZipEnd(tail[at:])
	if err != nil {
		return zipEnd{}, err
	}
	end, recordAt, known := short, start+int64(at), short.isComplete()
	if before := at - zip64LocatorSize; before >= 0 && bytes.HasPrefix(tail[before:], zip64LocatorMark) {
		if end, recordAt, err = a.end64(tail[before:at], start+int64(before)); err != nil {
			return zipEnd{}, err
		}
		known = short.agrees(end)
	}
	switch {
	case !known:
		return zipEnd{}, errors.New("its two end records disagree, or one of them is missing")
	case end.offset < 0 || end.size < 0 || end.offset > recordAt || end.size != recordAt-end.offset:
		return zipEnd{}, errors.New("its directory is not at the offset in its end record")
	}
	return end, nil
}

func zipEndReaches(record []byte) bool {
	return len(record) >= zipEndSize && len(record) == zipEndSize+int(binary.LittleEndian.Uint16(record[20:]))
}

var errVolumes = errors.New("it is one of several volumes")

// parseZipEnd may return markers of zip64.
func parseZipEnd(record []byte) (zipEnd, error) {
	le := binary.LittleEndian
	entries := le.Uint16(record[10:])
	if le.Uint16(record[4:]) != 0 || le.Uint16(record[6:]) != 0 || le.Uint16(record[8:]) != entries {
		return zipEnd{}, errVolumes
	}
	return zipEnd{
		entries: int64(entries),
		size:    int64(le.Uint32(record[12:])),
		offset:  int64(le.Uint32(record[16:])),
	}, nil
}

// end64 reads the record to which a locator points. It must be directly before the locator, without more data.
func (a *Archive) end64(locator []byte, locatorAt int64) (end zipEnd, at int64, err error) {
	le := binary.LittleEndian
	at = locatorAt - zip64EndSize
	switch {
	case le.Uint32(locator[4:]) != 0 || le.Uint32(locator[16:]) != 1:
		return zipEnd{}, 0, errVolumes
	case at < 0 || le.Uint64(locator[8:]) != uint64(at):
		return zipEnd{}, 0, errors.New("its locator does not point to the zip64 record before it")
	}
	record := make([]byte, zip64EndSize)
	if err := a.readAt(record, at); err != nil {
		return zipEnd{}, 0, err
	}
	entries := le.Uint64(record[32:])
	switch {
	case !bytes.HasPrefix(record, zip64EndMark) || le.Uint64(record[4:]) != zip64EndSize-12:
		return zipEnd{}, 0, errors.New("there is no zip64 record before its locator")
	case le.Uint32(record[16:]) != 0 || le.Uint32(record[20:]) != 0 || le.Uint64(record[24:]) != entries:
		return zipEnd{}, 0, errVolumes
	}
	end = zipEnd{entries: int64(entries), size: int64(le.Uint64(record[40:])), offset: int64(le.Uint64(record[48:]))} //nolint:gosec // negative values are refused
	if end.entries < 0 {
		return zipEnd{}, 0, errors.New("it has an impossible number of entries")
	}
	return end, at, nil
}

// isComplete reports whether a record of 32 bits has no markers.
func (e zipEnd) isComplete() bool {
	return e.entries < zip64Marker16 && e.size < zip64Marker32 && e.offset < zip64Marker32
}

// agrees compares a record of 32 bits with the values that count, which have no markers.
func (e zipEnd) agrees(with zipEnd) bool {
	return agreesOrMarked(e.entries, with.entries, zip64Marker16) &&
		agreesOrMarked(e.size, with.size, zip64Marker32) && agreesOrMarked(e.offset, with.offset, zip64Marker32)
}

func agreesOrMarked(short, value, marker int64) bool {
	return short == value && value < marker || short == marker && value >= 0
}

func (a *Archive) directory(end zipEnd) ([]*Entry, error) {
	r := bufio.NewReader(io.NewSectionReader(a.file, end.offset, end.size))
	var entries []*Entry
	for range end.entries {
		entry, err := readZipEntry(r)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the directory has more entries than its end record says")
	}
	return entries, nil
}

func readZipEntry(r io.Reader) (*Entry, error) {
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
	entry := &Entry{
		Name:     string(name),
		flags:    le.Uint16(head[8:]),
		Method:   le.Uint16(head[10:]),
		zipSizes: readZipSizes(head[16:]),
		offset:   int64(le.Uint32(head[42:])),
	}
	if le.Uint16(head[34:]) != 0 {
		return nil, &Error{Entry: string(name), Err: errVolumes}
	}
	var err error
	entry.Mode, err = zipMode(entry.Name, head[5], le.Uint32(head[38:]))
	wide, extraErr := parseZipExtra(extra, entry.Name)
	if err = cmp.Or(err, extraErr, wide.fill(&entry.size, &entry.packed, &entry.offset), entry.check()); err != nil {
		return nil, asError(string(name), err)
	}
	return entry, nil
}
