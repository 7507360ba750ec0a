package xz

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"

	"github.com/ulikunitz/xz/lzma"

	"github.com/cotterpin/cotter/getmodules"
)

const (
	filterLZMA2 = 0x21

	flagFilters  = 0x03 // number of filters minus 1
	flagReserved = 0x3c
	flagPacked   = 0x40
	flagUnpacked = 0x80
)

var errBlockHeader = errors.New("xz: a block header is damaged")

type blockHeader struct {
	length int64
	// packed and unpacked are the sizes of the data and of its content; -1 if the header does not have
	// them.
	packed, unpacked int64
	// dictionary is the size to allocate, in bytes.
	dictionary int64
}

// readBlockHeader reads a header after its first byte, which encodes its size.
func (x *reader) readBlockHeader(size byte) (blockHeader, error) {
	raw := make([]byte, (int(size)+1)*4)
	raw[0] = size
	if _, err := io.ReadFull(&x.in, raw[1:]); err != nil {
		return blockHeader{}, err
	}
	body, sum := raw[:len(raw)-4], raw[len(raw)-4:]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(sum) {
		return blockHeader{}, errBlockHeader
	}
	return parseBlockHeader(int64(len(raw)), body[1], bytes.NewReader(body[2:]))
}

func parseBlockHeader(length int64, flags byte, fields *bytes.Reader) (h blockHeader, err error) {
	h.length = length
	if flags&flagReserved != 0 {
		return h, errBlockHeader
	}
	if h.packed, err = readSize(fields, flags&flagPacked != 0); err != nil {
		return h, err
	}
	if h.unpacked, err = readSize(fields, flags&flagUnpacked != 0); err != nil {
		return h, err
	}
	filter, err := readNumber(fields)
	if err != nil {
		return h, errBlockHeader
	}
	if flags&flagFilters != 0 || filter != filterLZMA2 {
		return h, fmt.Errorf("%w: xz with other filters than LZMA2", getmodules.ErrUnsupportedArchive)
	}
	var properties [2]byte // the number of bytes that follow, which is 1, and the encoded dictionary size
	if _, err := io.ReadFull(fields, properties[:]); err != nil || properties[0] != 1 {
		return h, errBlockHeader
	}
	dictionary, err := lzma.DecodeDictCap(properties[1])
	if err != nil {
		return h, errBlockHeader
	}
	for fields.Len() > 0 {
		if b, _ := fields.ReadByte(); b != 0 {
			return h, errBlockHeader
		}
	}
	if dictionary > maxDictionary {
		return h, fmt.Errorf("%w: the xz dictionary has %d bytes, more than %d", getmodules.ErrTooLarge, dictionary, maxDictionary)
	}
	// No distance in a block is longer than the block.
	if h.unpacked >= 0 {
		dictionary = min(dictionary, h.unpacked)
	}
	h.dictionary = max(dictionary, lzma.MinDictCap)
	return h, nil
}

// readSize returns -1 if the size is not present.
func readSize(fields io.ByteReader, present bool) (int64, error) {
	if !present {
		return -1, nil
	}
	n, err := readNumber(fields)
	if err != nil {
		return 0, errBlockHeader
	}
	return int64(n), nil
}

// readNumber reads a number of up to 63 bits, with 7 bits per byte, in its shortest form.
func readNumber(r io.ByteReader) (uint64, error) {
	var n uint64
	for shift := 0; shift < 63; shift += 7 {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		n |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			if b == 0 && shift > 0 {
				return 0, errors.New("xz: a number is not in its shortest form")
			}
			return n, nil
		}
	}
	return 0, fmt.Errorf("xz: a number is above %d", int64(math.MaxInt64))
}

// readEnd reads the index, after its first byte at offset start, and the footer. It returns io.EOF if both
// agree with the blocks.
func (x *reader) readEnd(start int64) error {
	index := &checksumReader{in: &x.in, sum: crc32.NewIEEE()}
	_, _ = index.sum.Write([]byte{0}) // the byte that was already read
	count, err := readNumber(index)
	if err != nil {
		return err
	}
	if count != x.blocks {
		return fmt.Errorf("xz: the index has %d blocks, and the stream %d", count, x.blocks)
	}
	records := sha256.New()
	for range count {
		unpadded, err := readNumber(index)
		if err != nil {
			return err
		}
		size, err := readNumber(index)
		if err != nil {
			return err
		}
		addRecord(records, unpadded, size)
	}
	if !bytes.Equal(records.Sum(nil), x.records.Sum(nil)) {
		return errors.New("xz: the index does not agree with the blocks")
	}
	if err := readPadding(index, x.in.n-start); err != nil {
		return err
	}
	want := index.sum.Sum32()
	var sum [4]byte
	if _, err := io.ReadFull(&x.in, sum[:]); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(sum[:]) != want {
		return errors.New("xz: the index has the wrong checksum")
	}
	return x.readFooter(x.in.n - start)
}

func (x *reader) readFooter(indexSize int64) error {
	var footer [12]byte
	if _, err := io.ReadFull(&x.in, footer[:]); err != nil {
		return err
	}
	backward := (int64(binary.LittleEndian.Uint32(footer[4:])) + 1) * 4
	switch {
	case string(footer[10:]) != footerMagic:
		return errors.New("xz: the stream footer has the wrong magic bytes")
	case binary.LittleEndian.Uint32(footer[:]) != crc32.ChecksumIEEE(footer[4:10]):
		return errors.New("xz: the stream footer has the wrong checksum")
	case backward != indexSize, [2]byte(footer[8:10]) != x.flags:
		return errors.New("xz: the stream footer does not agree with the stream")
	}
	return io.EOF
}

// checksumReader adds the bytes that it reads to a checksum.
type checksumReader struct {
	in  io.ByteReader
	sum hash.Hash32
}

func (c *checksumReader) ReadByte() (byte, error) {
	b, err := c.in.ReadByte()
	if err == nil {
		_, _ = c.sum.Write([]byte{b})
	}
	return b, err
}
