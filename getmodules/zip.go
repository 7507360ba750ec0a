package getmodules

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/packagelimits"
)

// unzip refuses archives in which the local headers and the directory differ, because programs may use
// either.
func (a *unpacking) unzip() error {
	end, err := a.zipEnd()
	if err != nil {
		return damaged("zip: %w", err)
	}
	if most := int64(a.limits.Entries); end.entries > most {
		return &LimitError{Limit: packagelimits.OfEntries, Size: end.entries, Max: most}
	}
	entries, err := a.zipDirectory(end)
	if err != nil {
		return damaged("zip: %w", err)
	}
	if err := a.zipLayout(entries, end.offset); err != nil {
		return damaged("zip: %w", err)
	}
	sum := int64(0)
	for _, entry := range entries {
		sum = min(sum+min(entry.size, a.limits.TreeBytes), a.limits.TreeBytes)
	}
	if err := a.w.Expect(sum); err != nil {
		return err
	}
	for _, entry := range entries {
		if err := a.unzipEntry(entry); err != nil {
			return err
		}
	}
	return nil
}

func (a *unpacking) unzipEntry(entry *zipEntry) error {
	r := a.zipContent(entry)
	target := ""
	switch entry.mode.Type() {
	case fs.ModeDir:
		if entry.size != 0 {
			return damaged("zip: %q: a directory with content", entry.name)
		}
		// Only for the checks: a compressed empty content has bytes.
		if _, err := io.Copy(io.Discard, r); err != nil {
			return fmt.Errorf("%q: %w", entry.name, err)
		}
	case fs.ModeSymlink:
		text, err := io.ReadAll(io.LimitReader(r, maxLinkTarget+1))
		if err != nil {
			return fmt.Errorf("%q: %w", entry.name, err)
		}
		target = string(text)
	}
	return a.add(entryName(entry.name, entry.mode.IsDir()), entry.mode, target, r)
}

// zipLayout sorts entries by offset. They must fill the archive up to its directory, without gaps or
// overlaps, and agree with their local headers.
func (a *unpacking) zipLayout(entries []*zipEntry, end int64) error {
	slices.SortFunc(entries, func(x, y *zipEntry) int { return cmp.Compare(x.offset, y.offset) })
	offset := int64(0)
	for i, entry := range entries {
		next := end
		if i+1 < len(entries) {
			next = entries[i+1].offset
		}
		if entry.offset != offset || next <= offset {
			return fmt.Errorf("%q: there is a gap or an overlap before the entry", entry.name)
		}
		if err := a.zipLocal(entry, next); err != nil {
			return fmt.Errorf("%q: %w", entry.name, err)
		}
		offset = next
	}
	if offset != end {
		return errors.New("there is data before the directory")
	}
	return nil
}

const (
	zipStore   = 0
	zipDeflate = 8
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

func (e *zipEntry) check() error {
	switch {
	case e.flags&zipFlagEncrypted != 0:
		return fmt.Errorf("%w: it is encrypted", ErrUnsupportedArchive)
	case e.flags&^(zipFlagLevel|zipFlagDescriptor|zipFlagUTF8) != 0:
		return fmt.Errorf("%w: it has the flags %#04x", ErrUnsupportedArchive, e.flags)
	case e.method != zipStore && e.method != zipDeflate:
		return fmt.Errorf("%w: it is compressed by method %d", ErrUnsupportedArchive, e.method)
	case e.method == zipStore && e.packed != e.size:
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
	return 0, fmt.Errorf("%w: its mode %#o is not that of a file, directory or link", ErrUnsafeEntry, unix)
}
