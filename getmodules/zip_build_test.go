package getmodules_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
)

// rawZip is a zip archive of which every part can be made invalid. newZip returns a valid
// one, which tests then change.
type rawZip struct {
	entries []*zipRaw
	prefix  []byte // before the first entry
	middle  []byte // before the central directory
	between []byte // before the end record
	comment []byte
	suffix  []byte
	// end, if not nil, changes the end record.
	end func(record []byte)
}

// zipRawHeader has the fields that the local and the central header of an entry share.
type zipRawHeader struct {
	name          string
	flags, method uint16
	crc           uint32
	packed, size  uint32
	extra         []byte
}

type zipRaw struct {
	local, central zipRawHeader
	data           []byte
	descriptor     []byte
	gap            []byte // after the descriptor
	system         byte
	attributes     uint32
	disk           uint16
	shift          int // added to the offset in the central directory
	hidden         bool
}

// rawFile returns a deflated file as Unix tools write it.
func rawFile(name, text string) *zipRaw {
	header := zipRawHeader{name: name, method: 8, crc: crc32.ChecksumIEEE([]byte(text)), size: uint32(len(text))}
	return rawPacked(header, deflate([]byte(text)))
}

// rawPacked returns a file whose content is already compressed.
func rawPacked(header zipRawHeader, data []byte) *zipRaw {
	header.packed = uint32(len(data))
	return &zipRaw{local: header, central: header, data: data, system: 3, attributes: 0o100644 << 16}
}

// rawStored returns a file without compression.
func rawStored(name, text string) *zipRaw {
	e := rawFile(name, text)
	e.data = []byte(text)
	e.both(func(h *zipRawHeader) { h.method, h.packed = 0, h.size })
	return e
}

func rawDir(name string) *zipRaw {
	e := rawStored(name+"/", "")
	e.attributes = 0o40755 << 16
	return e
}

func rawLink(name, target string) *zipRaw {
	e := rawStored(name, target)
	e.attributes = 0o120777 << 16
	return e
}

// described changes an entry so that its sizes follow its content, with or without a
// signature.
func described(e *zipRaw, signature bool) *zipRaw {
	if signature {
		e.descriptor = []byte("PK\x07\x08")
	}
	for _, v := range []uint32{e.central.crc, e.central.packed, e.central.size} {
		e.descriptor = binary.LittleEndian.AppendUint32(e.descriptor, v)
	}
	e.both(func(h *zipRawHeader) { h.flags |= 8 })
	e.local.crc, e.local.packed, e.local.size = 0, 0, 0
	return e
}

func (e *zipRaw) both(change func(*zipRawHeader)) *zipRaw {
	change(&e.local)
	change(&e.central)
	return e
}

func (e *zipRaw) but(change func(*zipRaw)) *zipRaw {
	change(e)
	return e
}

func deflate(text []byte) []byte {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestCompression)
	_, _ = w.Write(text)
	_ = w.Close()
	return out.Bytes()
}

func newZip(entries ...*zipRaw) *rawZip { return &rawZip{entries: entries} }

func (z *rawZip) but(change func(*rawZip)) *rawZip {
	change(z)
	return z
}

func (z *rawZip) bytes() []byte {
	le := binary.LittleEndian
	out := bytes.Clone(z.prefix)
	var directory []byte
	count := 0
	for _, e := range z.entries {
		offset := uint32(len(out) + e.shift)
		out = append(out, e.local.encode([]byte("PK\x03\x04\x14\x00"), nil)...)
		out = append(append(append(out, e.data...), e.descriptor...), e.gap...)
		if e.hidden {
			continue
		}
		count++
		tail := make([]byte, 14)
		le.PutUint16(tail[2:], e.disk)
		le.PutUint32(tail[6:], e.attributes)
		le.PutUint32(tail[10:], offset)
		directory = append(directory, e.central.encode([]byte{'P', 'K', 1, 2, 20, e.system, 20, 0}, tail)...)
	}
	out = append(out, z.middle...)
	end := make([]byte, 22)
	copy(end, "PK\x05\x06")
	le.PutUint16(end[8:], uint16(count))
	le.PutUint16(end[10:], uint16(count))
	le.PutUint32(end[12:], uint32(len(directory)))
	le.PutUint32(end[16:], uint32(len(out)))
	le.PutUint16(end[20:], uint16(len(z.comment)))
	if z.end != nil {
		z.end(end)
	}
	out = append(append(append(out, directory...), z.between...), end...)
	return append(append(out, z.comment...), z.suffix...)
}

// encode returns a header that begins with start and has tail between the lengths and the
// name.
func (h zipRawHeader) encode(start, tail []byte) []byte {
	le := binary.LittleEndian
	out := le.AppendUint16(start, h.flags)
	out = le.AppendUint16(out, h.method)
	out = append(out, 0, 0, 0x21, 0x5c) // time and date
	for _, v := range []uint32{h.crc, h.packed, h.size} {
		out = le.AppendUint32(out, v)
	}
	out = le.AppendUint16(out, uint16(len(h.name)))
	out = le.AppendUint16(out, uint16(len(h.extra)))
	out = append(out, tail...)
	return append(append(out, h.name...), h.extra...)
}
