package zipfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
)

// checkLocal compares an entry, which must end at next, with its local header and descriptor.
func (a *Archive) checkLocal(entry *Entry, next int64) error {
	var head [zipLocalSize]byte
	if err := a.readAt(head[:], entry.offset); err != nil {
		return err
	}
	if !bytes.HasPrefix(head[:], zipLocalMark) {
		return errors.New("there is no local header at the offset in the directory")
	}
	le := binary.LittleEndian
	names := make([]byte, int(le.Uint16(head[26:]))+int(le.Uint16(head[28:])))
	if err := a.readAt(names, entry.offset+zipLocalSize); err != nil {
		return err
	}
	name, extra := names[:le.Uint16(head[26:])], names[le.Uint16(head[26:]):]
	if string(name) != entry.Name || le.Uint16(head[6:]) != entry.flags || le.Uint16(head[8:]) != entry.Method {
		return errors.New("its local header disagrees with the directory on name, flags or method")
	}
	wide, err := parseZipExtra(extra, entry.Name)
	if err != nil {
		return err
	}
	sizes := readZipSizes(head[14:])
	if !wide.repeats(sizes.size, sizes.packed) {
		if err := wide.fill(&sizes.size, &sizes.packed); err != nil {
			return err
		}
	}
	if !sizes.agree(entry.zipSizes, entry.flags&zipFlagDescriptor != 0) {
		return errors.New("its local header disagrees with the directory on sizes or checksum")
	}
	entry.data = entry.offset + zipLocalSize + int64(len(names))
	return a.checkDescriptor(entry, next, wide != nil)
}

// zipSizes are in bytes.
type zipSizes struct {
	crc          uint32
	packed, size int64
}

// agree compares local sizes with those of the directory. Where a descriptor follows, each may be 0: Info-ZIP knows the size of
// a file before it is compressed, and writes only that.
func (s zipSizes) agree(with zipSizes, described bool) bool {
	same := func(local, central int64) bool { return local == central || described && local == 0 }
	return same(int64(s.crc), int64(with.crc)) && same(s.packed, with.packed) && same(s.size, with.size)
}

// readZipSizes may return markers of zip64.
func readZipSizes(fields []byte) zipSizes {
	le := binary.LittleEndian
	return zipSizes{le.Uint32(fields), int64(le.Uint32(fields[4:])), int64(le.Uint32(fields[8:]))}
}

// checkDescriptor allows between an entry's content and the next entry only the descriptor that the flags
// announce, with or without a signature. Its sizes have 64 bits if those of the local header have, or if they are too
// large for 32.
func (a *Archive) checkDescriptor(entry *Entry, next int64, wide bool) error {
	size := next - entry.data - entry.packed
	if entry.flags&zipFlagDescriptor == 0 {
		if size != 0 {
			return errors.New("its content overlaps the next entry, or leaves a gap")
		}
		return nil
	}
	length := int64(12)
	if wide = wide || max(entry.packed, entry.size) >= zip64Marker32; wide {
		length = 20
	}
	if size != length && size != length+int64(len(zipDescriptorMark)) {
		return errors.New("its descriptor does not follow its content")
	}
	descriptor := make([]byte, size)
	if err := a.readAt(descriptor, entry.data+entry.packed); err != nil {
		return err
	}
	fields, marked := bytes.CutPrefix(descriptor, zipDescriptorMark)
	if size == length {
		fields, marked = descriptor, true
	}
	var sizes zipSizes
	if le := binary.LittleEndian; marked && wide {
		sizes = zipSizes{le.Uint32(fields), int64(le.Uint64(fields[4:])), int64(le.Uint64(fields[12:]))} //nolint:gosec // compared only
	} else if marked {
		sizes = readZipSizes(fields)
	}
	if !marked || sizes != entry.zipSizes {
		return errors.New("its descriptor disagrees with the directory on sizes or checksum")
	}
	return nil
}

func (a *Archive) readAt(p []byte, offset int64) error {
	_, err := io.ReadFull(io.NewSectionReader(a.file, offset, int64(len(p))), p)
	return err
}

// Content returns a reader of the content of one entry, after [Archive.Check]. It is valid until the next call. Its end is
// an *[Error] if size or checksum differ from the directory.
func (a *Archive) Content(entry *Entry) io.Reader {
	if !a.checked {
		return failedReader{&Error{Entry: entry.Name, Err: errNotChecked}}
	}
	packed, inflated := a.readers(io.NewSectionReader(a.file, entry.data, entry.packed))
	content := &zipContent{entry: entry, packed: packed, r: packed}
	if entry.Method == Deflate {
		content.r = inflated
	}
	return content
}

var errNotChecked = errors.New("the layout of the archive was not checked")

type failedReader struct{ err error }

func (f failedReader) Read([]byte) (int, error) { return 0, f.err }

// portion is read at a time, in bytes.
const portion = 128 << 10

// readers reuses its readers for all entries: their buffers are larger than most files.
func (a *Archive) readers(r io.Reader) (packed *bufio.Reader, inflated io.Reader) {
	if a.packed == nil {
		// flate does not read beyond its data from a bufio.Reader.
		a.packed = bufio.NewReaderSize(r, int(min(a.size, portion)))
		a.inflated = flate.NewReader(a.packed)
		return a.packed, a.inflated
	}
	a.packed.Reset(r)
	// Reset fails only with a dictionary, which is not used here.
	_ = a.inflated.(flate.Resetter).Reset(a.packed, nil)
	return a.packed, a.inflated
}

type zipContent struct {
	entry  *Entry
	packed *bufio.Reader
	r      io.Reader
	size   int64
	crc    uint32
}

func (c *zipContent) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.size += int64(n)
	c.crc = crc32.Update(c.crc, crc32.IEEETable, p[:n])
	if c.size > c.entry.size {
		return n, &Error{Entry: c.entry.Name, Err: errors.New("it has more content than the directory says")}
	}
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if c.size < c.entry.size {
		return n, &Error{Entry: c.entry.Name, Err: errors.New("it has less content than the directory says")}
	}
	if c.crc != c.entry.crc {
		return n, &Error{Entry: c.entry.Name, Err: errors.New("it does not have the checksum that the directory says")}
	}
	if _, err := c.packed.ReadByte(); !errors.Is(err, io.EOF) {
		return n, &Error{Entry: c.entry.Name, Err: errors.New("it has trailing data after its content")}
	}
	return n, io.EOF
}
