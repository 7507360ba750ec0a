package getmodules

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// zipLocal compares an entry, which must end at next, with its local header and descriptor.
func (a *unpacking) zipLocal(entry *zipEntry, next int64) error {
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
	if string(name) != entry.name || le.Uint16(head[6:]) != entry.flags || le.Uint16(head[8:]) != entry.method {
		return errors.New("its local header disagrees with the directory on name, flags or method")
	}
	if err := checkZipExtra(extra, entry.name); err != nil {
		return err
	}
	sizes := head[14:26]
	if !entry.agrees(sizes) && !(entry.flags&zipFlagDescriptor != 0 && isZero(sizes)) {
		return errors.New("its local header disagrees with the directory on sizes or checksum")
	}
	entry.data = entry.offset + zipLocalSize + int64(len(names))
	return a.zipDescriptor(entry, next)
}

// agrees reports whether a local header or descriptor has the entry's checksum and sizes.
func (e *zipEntry) agrees(sizes []byte) bool {
	le := binary.LittleEndian
	return le.Uint32(sizes) == e.crc && int64(le.Uint32(sizes[4:])) == e.packed && int64(le.Uint32(sizes[8:])) == e.size
}

func isZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// zipDescriptor allows between an entry's content and the next entry only the descriptor that the flags
// announce, with or without a signature.
func (a *unpacking) zipDescriptor(entry *zipEntry, next int64) error {
	size := next - entry.data - entry.packed
	if entry.flags&zipFlagDescriptor == 0 {
		if size != 0 {
			return errors.New("its content overlaps the next entry, or leaves a gap")
		}
		return nil
	}
	if size != 12 && size != 16 {
		return errors.New("its descriptor does not follow its content")
	}
	descriptor := make([]byte, size)
	if err := a.readAt(descriptor, entry.data+entry.packed); err != nil {
		return err
	}
	if size == 16 && !bytes.HasPrefix(descriptor, zipDescriptorMark) || !entry.agrees(descriptor[size-12:]) {
		return errors.New("its descriptor disagrees with the directory")
	}
	return nil
}

func (a *unpacking) readAt(p []byte, offset int64) error {
	_, err := io.ReadFull(readerAt(a.ctx, a.file, offset, int64(len(p))), p)
	return err
}

// zipContent returns a reader of the content. Its end is an error if size or checksum differ from the
// directory.
func (a *unpacking) zipContent(entry *zipEntry) io.Reader {
	packed, inflated := a.zipReaders(readerAt(a.ctx, a.file, entry.data, entry.packed))
	content := &zipContent{entry: entry, packed: packed, r: packed}
	if entry.method == zipDeflate {
		content.r = inflated
	}
	return a.bounded(content)
}

// zipReaders reuses its readers for all entries: their buffers are larger than most files.
func (a *unpacking) zipReaders(r io.Reader) (packed *bufio.Reader, inflated io.Reader) {
	if a.packed == nil {
		// flate does not read beyond its data from a bufio.Reader.
		a.packed = bufio.NewReader(r)
		a.inflated = flate.NewReader(a.packed)
		return a.packed, a.inflated
	}
	a.packed.Reset(r)
	// Reset fails only with a dictionary, which is not used here.
	_ = a.inflated.(flate.Resetter).Reset(a.packed, nil)
	return a.packed, a.inflated
}

type zipContent struct {
	entry  *zipEntry
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
		return n, fmt.Errorf("%q has more content than the directory says", c.entry.name)
	}
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if c.size < c.entry.size {
		return n, fmt.Errorf("%q has less content than the directory says", c.entry.name)
	}
	if c.crc != c.entry.crc {
		return n, fmt.Errorf("%q does not have the checksum that the directory says", c.entry.name)
	}
	if _, err := c.packed.ReadByte(); !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("%q has trailing data after its content", c.entry.name)
	}
	return n, io.EOF
}
