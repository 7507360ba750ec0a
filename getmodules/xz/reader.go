package xz

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"

	"github.com/cotterpin/cotter/getmodules"
)

const (
	magic       = "\xfd7zXZ\x00"
	footerMagic = "YZ"

	// maxDictionary bounds one dictionary, in bytes.
	maxDictionary = 64 << 20
	// dictionaryShare bounds all dictionaries: maxDictionary plus this many times the size of the content.
	dictionaryShare = 16
)

var errBlockSize = errors.New("xz: a block has another size than its header says")

// NewReader returns a reader of the content of the xz stream in packed. If packed is an [io.ByteReader], no
// byte after the stream is read. Errors wrap [getmodules.ErrTooLarge] for a dictionary over the limits,
// [getmodules.ErrUnsupportedArchive] for a filter or checksum, and [io.ErrUnexpectedEOF] for a truncated
// stream. All others mean that the stream is damaged.
func NewReader(packed io.Reader) (io.Reader, error) {
	in, ok := packed.(byteReader)
	if !ok {
		in = bufio.NewReader(packed)
	}
	x := &reader{in: counter{byteReader: in}, records: sha256.New()}
	return x, x.readStreamHeader()
}

type byteReader interface {
	io.Reader
	io.ByteReader
}

// counter counts bytes. The end of the file is io.ErrUnexpectedEOF, because a stream says where it ends.
type counter struct {
	byteReader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.byteReader.Read(p)
	c.n += int64(n)
	return n, unexpected(err)
}

func (c *counter) ReadByte() (byte, error) {
	b, err := c.byteReader.ReadByte()
	if err == nil {
		c.n++
	}
	return b, unexpected(err)
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

type reader struct {
	in counter
	// flags are those of the stream header, which the footer repeats.
	flags [2]byte
	// block is nil between blocks.
	block *block
	// blocks and records, the hash of their sizes, are repeated by the index. There may be millions.
	blocks  uint64
	records hash.Hash
	// content and dictionaries are the sums of the sizes so far.
	content, dictionaries int64
	// err ended the stream; io.EOF if it is complete.
	err error
}

func (x *reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, x.err
	}
	for x.err == nil {
		if x.block == nil {
			x.err = x.nextBlock()
			continue
		}
		n, err := x.block.content.Read(p)
		x.block.size += int64(n)
		x.content += int64(n)
		_, _ = x.block.check.Write(p[:n]) // a hash never fails
		switch {
		case errors.Is(err, io.EOF):
			err = x.endBlock()
		case err == nil && x.block.unpacked >= 0 && x.block.size > x.block.unpacked:
			err = errBlockSize
		}
		x.err = err
		if n > 0 {
			return n, nil
		}
	}
	return 0, x.err
}

func (x *reader) readStreamHeader() error {
	var header [12]byte
	if _, err := io.ReadFull(&x.in, header[:]); err != nil {
		return err
	}
	copy(x.flags[:], header[6:8])
	switch {
	case string(header[:6]) != magic:
		return errors.New("xz: the stream header has the wrong magic bytes")
	case binary.LittleEndian.Uint32(header[8:]) != crc32.ChecksumIEEE(x.flags[:]):
		return errors.New("xz: the stream header has the wrong checksum")
	}
	_, err := newCheck(x.flags)
	return err
}

// newCheck returns the hash for the checksum after each block.
func newCheck(flags [2]byte) (hash.Hash, error) {
	switch flags {
	case [2]byte{0, 0}:
		return noCheck{crc32.NewIEEE()}, nil
	case [2]byte{0, 1}:
		return littleEndian{crc32.NewIEEE()}, nil
	case [2]byte{0, 4}:
		return littleEndian{crc64.New(crc64.MakeTable(crc64.ECMA))}, nil
	case [2]byte{0, 10}:
		return sha256.New(), nil
	}
	return nil, fmt.Errorf("%w: xz with the checksum type %#x", getmodules.ErrUnsupportedArchive, flags)
}

// noCheck is for a stream without checksums.
type noCheck struct{ hash.Hash }

func (noCheck) Sum(b []byte) []byte { return b }

// littleEndian stores a sum with the least significant byte first.
type littleEndian struct{ hash.Hash }

func (l littleEndian) Sum(b []byte) []byte {
	sum := l.Hash.Sum(nil)
	for i := range sum {
		b = append(b, sum[len(sum)-1-i])
	}
	return b
}

type block struct {
	blockHeader
	// start is the offset of the data in the file.
	start   int64
	content io.Reader
	check   hash.Hash
	// size is that of the content so far.
	size int64
}

// nextBlock starts the next block, or reads the index and the footer, and returns io.EOF.
func (x *reader) nextBlock() error {
	start := x.in.n
	size, err := x.in.ReadByte()
	if err != nil {
		return err
	}
	if size == 0 {
		return x.readEnd(start)
	}
	header, err := x.readBlockHeader(size)
	if err != nil {
		return err
	}
	x.dictionaries += header.dictionary
	if x.dictionaries > maxDictionary+dictionaryShare*x.content {
		return fmt.Errorf("%w: the xz dictionaries have %d bytes for %d bytes of content", getmodules.ErrTooLarge, x.dictionaries, x.content)
	}
	b := &block{blockHeader: header, start: x.in.n}
	if b.check, err = newCheck(x.flags); err != nil {
		return err
	}
	if b.content, err = (lzma.Reader2Config{DictCap: int(header.dictionary)}).NewReader2(&x.in); err != nil {
		return err
	}
	x.block = b
	return nil
}

// endBlock checks the sizes, the padding and the checksum of the block that was read.
func (x *reader) endBlock() error {
	b := x.block
	x.block = nil
	packed := x.in.n - b.start
	if b.packed >= 0 && b.packed != packed || b.unpacked >= 0 && b.unpacked != b.size {
		return errBlockSize
	}
	if err := readPadding(&x.in, packed); err != nil {
		return err
	}
	want := b.check.Sum(nil)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(&x.in, got); err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return errors.New("xz: a block has the wrong checksum")
	}
	x.blocks++
	addRecord(x.records, uint64(b.length+packed+int64(len(want))), uint64(b.size))
	return nil
}

func addRecord(h hash.Hash, unpadded, size uint64) {
	_, _ = h.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, unpadded), size))
}

// readPadding reads zeros up to a multiple of 4 bytes.
func readPadding(in io.ByteReader, size int64) error {
	for range (4 - size%4) % 4 {
		switch b, err := in.ReadByte(); {
		case err != nil:
			return err
		case b != 0:
			return errors.New("xz: the padding is not zero")
		}
	}
	return nil
}
