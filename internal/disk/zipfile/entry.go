package zipfile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Entry is a file, a directory, a link or something else in an archive.
type Entry struct {
	// Name is as in the archive. That of a directory ends with a slash.
	Name string
	// Mode has the type, and the permissions if a Unix system has written the entry.
	Mode   fs.FileMode
	Method uint16
	flags  uint16
	zipSizes
	offset int64 // of the local header
	data   int64 // the offset of the content, set by checkLocal
}

// Size is that of the content in bytes, as the directory says. A content of another size is an error.
func (e *Entry) Size() int64 { return e.size }

// Error says why an archive is refused.
type Error struct {
	// Entry is the name of the entry at fault, or "".
	Entry string
	Err   error
	// Unsupported says that the archive is not damaged, but needs a feature that this package does not read.
	Unsupported bool
}

func (e *Error) Error() string {
	if e.Entry == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("%q: %v", e.Entry, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// asError returns an *Error about an entry.
func asError(entry string, err error) error {
	if known, ok := errors.AsType[*Error](err); ok {
		known.Entry = cmp.Or(known.Entry, entry)
		return known
	}
	return &Error{Entry: entry, Err: err}
}

func unsupported(format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Unsupported: true}
}

// Check compares the directory with the rest of the archive: entries must fill it without gaps or overlaps, and agree with
// their local headers, because programs may use either.
func (a *Archive) Check() error {
	if err := a.checkLayout(); err != nil {
		return asError("", err)
	}
	a.checked = true
	return nil
}

// checkLayout sorts the entries by offset.
func (a *Archive) checkLayout() error {
	slices.SortFunc(a.Entries, func(x, y *Entry) int { return cmp.Compare(x.offset, y.offset) })
	offset := int64(0)
	for i, entry := range a.Entries {
		next := a.offset
		if i+1 < len(a.Entries) {
			next = a.Entries[i+1].offset
		}
		if entry.offset != offset || next <= offset {
			return asError(entry.Name, errors.New("there is a gap or an overlap before the entry"))
		}
		if err := a.checkLocal(entry, next); err != nil {
			return asError(entry.Name, err)
		}
		offset = next
	}
	if offset != a.offset {
		return errors.New("there is data before the directory")
	}
	return nil
}

// The methods of compression that are read.
const (
	Store   = 0
	Deflate = 8
)

// General purpose flags. All others are for encryption, or for unused methods.
const (
	zipFlagEncrypted  = 1 << 0
	zipFlagLevel      = 1<<1 | 1<<2 // the level of deflate
	zipFlagDescriptor = 1 << 3      // sizes follow the content
	zipFlagUTF8       = 1 << 11
)

// Extra fields that repeat other fields.
const (
	zipExtraZip64       = 0x0001
	zipExtraUnicodePath = 0x7075
)

func (e *Entry) check() error {
	switch {
	case e.flags&zipFlagEncrypted != 0:
		return unsupported("it is encrypted")
	case e.flags&^(zipFlagLevel|zipFlagDescriptor|zipFlagUTF8) != 0:
		return unsupported("it has the flags %#04x", e.flags)
	case e.Method != Store && e.Method != Deflate:
		return unsupported("it is compressed by method %d", e.Method)
	case e.Method == Store && e.packed != e.size:
		return errors.New("it is stored without compression, but with two sizes")
	}
	return nil
}

// zipWide has the 64-bit values of an extra field of zip64. It is nil if the entry has no such field.
type zipWide []byte

// parseZipExtra checks an extra field, where tools store times and owners.
func parseZipExtra(extra []byte, name string) (wide zipWide, _ error) {
	for len(extra) > 0 {
		if len(extra) < 4 {
			return nil, errZipExtra
		}
		id, size := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		extra = extra[4:]
		if size > len(extra) {
			return nil, errZipExtra
		}
		switch {
		case id == zipExtraZip64 && (size == 0 || wide != nil):
			return nil, errZipExtra
		case id == zipExtraZip64:
			wide = zipWide(extra[:size])
		// The name follows a version and a checksum.
		case id == zipExtraUnicodePath && (size < 5 || string(extra[5:size]) != name):
			return nil, errors.New("it has a second name")
		}
		extra = extra[size:]
	}
	return wide, nil
}

var errZipExtra = errors.New("its extra field is malformed")

// repeats reports whether the values are those of the fields themselves, of which none has the marker: Python before 3.11.4
// writes this in local headers.
func (w zipWide) repeats(fields ...int64) bool {
	if len(w) != 8*len(fields) {
		return false
	}
	for i, field := range fields {
		if field == zip64Marker32 || int64(binary.LittleEndian.Uint64(w[8*i:])) != field { //nolint:gosec // field is not negative
			return false
		}
	}
	return true
}

// fill replaces the fields that have the marker, in this order. There must be exactly as many values.
func (w zipWide) fill(fields ...*int64) error {
	for _, field := range fields {
		if *field != zip64Marker32 {
			continue
		}
		if len(w) < 8 {
			return errors.New("a value of 64 bits is missing in its extra field")
		}
		if *field = int64(binary.LittleEndian.Uint64(w)); *field < 0 { //nolint:gosec // negative values are refused
			return errors.New("it has an impossible size or offset")
		}
		w = w[8:]
	}
	if len(w) > 0 {
		return errors.New("its extra field repeats a size or an offset")
	}
	return nil
}

// Systems ("version made by", upper byte) that store a unix mode in the upper half of the attributes.
const (
	zipUnix  = 3
	zipMacOS = 19
)

// otherTypes are those of entries that are refused, for messages.
var otherTypes = map[uint32]fs.FileMode{
	0o010000: fs.ModeNamedPipe,
	0o020000: fs.ModeDevice | fs.ModeCharDevice,
	0o060000: fs.ModeDevice,
	0o140000: fs.ModeSocket,
}

const (
	unixTypeMask = 0o170000
	unixDir      = 0o040000
	unixFile     = 0o100000
	unixLink     = 0o120000
)

// zipMode returns the type and permissions. The type must match the name, in which a final slash means a
// directory.
func zipMode(name string, system byte, attributes uint32) (fs.FileMode, error) {
	unix := attributes >> 16
	isDir := strings.HasSuffix(name, "/")
	var mode fs.FileMode
	if system == zipUnix || system == zipMacOS {
		mode = fs.FileMode(unix & 0o777)
	}
	switch kind := unix & unixTypeMask; {
	case kind == 0 && isDir, kind == unixDir && isDir:
		return mode | fs.ModeDir, nil
	case kind == 0, kind == unixFile && !isDir:
		return mode, nil
	case kind == unixLink && !isDir && system != zipUnix && system != zipMacOS:
		return 0, errors.New("some programs would read it as a link, others as a file")
	case kind == unixLink && !isDir:
		return mode | fs.ModeSymlink, nil
	case kind == unixDir, kind == unixFile, kind == unixLink:
		return 0, errors.New("its name and its mode disagree on whether it is a directory")
	}
	return mode | otherTypes[unix&unixTypeMask] | fs.ModeIrregular, nil
}
