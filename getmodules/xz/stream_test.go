package xz_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	library "github.com/ulikunitz/xz"
)

// packed returns content as an xz stream written by the library.
func packed(t testing.TB, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := library.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// stream is a handmade xz stream, which may be invalid. Its content is stored without
// compression, and its checksums are CRC32.
type stream struct {
	blocks []rawBlock
	// index, if not nil, replaces the sizes in the index, two for each block.
	index []uint64
	// flags, if not nil, replaces the flags of the footer.
	flags []byte
}

type rawBlock struct {
	content string
	// dictionary is the code of the dictionary size: 0 means 4 KiB, 28 means 64 MiB, and
	// 40 means 4 GiB.
	dictionary byte
	// filter is the id of the filter; 0 means LZMA2.
	filter byte
	// sizes are the optional sizes in the header: nil, or the packed and the unpacked
	// size.
	sizes []uint64
	// sum, if not nil, replaces the checksum.
	sum []byte
}

func (s stream) bytes() []byte {
	flags := []byte{0, 1}
	out := append([]byte("\xfd7zXZ\x00"), flags...)
	out = append(out, checksum(flags)...)
	index := s.index
	for _, b := range s.blocks {
		raw, unpadded := b.bytes()
		out = append(out, raw...)
		if s.index == nil {
			index = append(index, uint64(unpadded), uint64(len(b.content)))
		}
	}
	records := binary.AppendUvarint([]byte{0}, uint64(len(index)/2))
	for _, n := range index {
		records = binary.AppendUvarint(records, n)
	}
	records = pad(records)
	records = append(records, checksum(records)...)
	if s.flags != nil {
		flags = s.flags
	}
	footer := append(binary.LittleEndian.AppendUint32(nil, uint32(len(records)/4-1)), flags...)
	out = append(append(out, records...), checksum(footer)...)
	return append(append(out, footer...), "YZ"...)
}

// bytes returns the block and its size without padding.
func (b rawBlock) bytes() (raw []byte, unpadded int) {
	header := []byte{0, 0}
	if b.sizes != nil {
		header[1] = 0xc0
	}
	for _, n := range b.sizes {
		header = binary.AppendUvarint(header, n)
	}
	filter := byte(0x21)
	if b.filter != 0 {
		filter = b.filter
	}
	header = pad(append(header, filter, 1, b.dictionary))
	header[0] = byte(len(header) / 4)
	header = append(header, checksum(header)...)
	var data []byte
	if b.content != "" {
		data = append(binary.BigEndian.AppendUint16([]byte{1}, uint16(len(b.content)-1)), b.content...)
	}
	data = append(data, 0)
	sum := b.sum
	if sum == nil {
		sum = checksum([]byte(b.content))
	}
	return append(append(header, pad(data)...), sum...), len(header) + len(data) + len(sum)
}

func pad(b []byte) []byte { return append(b, make([]byte, (4-len(b)%4)%4)...) }

func checksum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(b))
}
