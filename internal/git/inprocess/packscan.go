package inprocess

import (
	"bufio"
	"bytes"
	"crypto/sha1" //nolint:gosec // the pack's own checksum, against accidents
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/klauspost/compress/zlib"
)

// The reasons why a pack could not be read, in addition to errors of the stream.
var (
	ErrMalformed = errors.New("the git pack is damaged")
	// ErrBase means that the base of a delta does not precede it.
	ErrBase = errors.New("the git pack holds a delta without its base")
	// ErrTooLarge means that a limit is exceeded.
	ErrTooLarge = errors.New("the git pack is too large")
	// ErrCollision is about an object that was made to have the name of another one.
	ErrCollision = errors.New("the git pack holds an object of a SHA-1 collision")
)

// LimitError says that a pack has more objects than allowed, or a larger one. It wraps [ErrTooLarge] only: the installed
// git can fetch a smaller pack from a server that sends more than was requested.
type LimitError struct {
	Over packagelimits.Error
}

func (e *LimitError) Error() string { return fmt.Sprintf("%v: %v", ErrTooLarge, &e.Over) }
func (e *LimitError) Unwrap() error { return ErrTooLarge }

// PackLimits must all be set but Disk.
type PackLimits struct {
	Objects int
	// ObjectBytes bounds one object.
	ObjectBytes int64
	// TotalBytes bounds all objects together.
	TotalBytes int64
	// MemoryBytes is how much of TotalBytes is in memory; the rest is in a temporary file.
	MemoryBytes int64
	// Disk is that of the run, for which the file counts. It may be nil.
	Disk *packagelimits.Disk
}

const (
	packVersion    = 2
	packHeaderSize = 12
	checksumSize   = 20
	readBuffer     = 32 << 10
	// maxSizeBits keeps sizes and offsets within an int64.
	maxSizeBits = 60
)

// packScanner reads version 2 of gitformat-pack(5), with SHA-1 names. It enforces the limits before memory is
// allocated.
type packScanner struct {
	limits  PackLimits
	stream  *summed
	in      *bufio.Reader
	inflate io.ReadCloser // nil before the first use
	// inflated is the sum of the sizes so far.
	inflated int64
}

type objectName [sha1.Size]byte

const (
	offsetDelta git.Kind = "offset delta"
	nameDelta   git.Kind = "name delta"
)

// packKinds are by their numbers in gitformat-pack(5).
var packKinds = [8]git.Kind{1: git.KindCommit, git.KindTree, git.KindBlob, git.KindTag, 6: offsetDelta, nameDelta}

// packEntry precedes the compressed content.
type packEntry struct {
	kind   git.Kind
	offset int64 // in the pack
	// size is that of an object or a delta.
	size int64
	// base is for offset deltas, baseID for name deltas.
	base   int64
	baseID objectName
}

func newPackScanner(stream io.Reader, limits PackLimits) *packScanner {
	s := &packScanner{limits: limits, stream: &summed{in: stream, sum: sha1.New()}}
	s.in = bufio.NewReaderSize(s.stream, readBuffer)
	return s
}

// scan calls begin with the number of objects, and each, which must read the content. Data after the pack is an error.
func (s *packScanner) scan(begin func(count int) error, each func(packEntry) error) error {
	count, err := s.header()
	if err == nil {
		err = begin(count)
	}
	for ; err == nil && count > 0; count-- {
		var e packEntry
		if e, err = s.entry(); err == nil {
			err = each(e)
		}
	}
	if err == nil {
		err = s.end()
	}
	switch {
	case err == nil:
		return nil
	case s.stream.err != nil:
		return s.stream.err // err is its consequence
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it ends early", ErrMalformed)
	}
	return err
}

func (s *packScanner) header() (count int, err error) {
	var head [packHeaderSize]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return 0, err
	}
	if string(head[:4]) != "PACK" || binary.BigEndian.Uint32(head[4:]) != packVersion {
		return 0, fmt.Errorf("%w: it does not begin like a pack of version %d", ErrMalformed, packVersion)
	}
	n := binary.BigEndian.Uint32(head[8:])
	if int64(n) > int64(s.limits.Objects) {
		return 0, &LimitError{packagelimits.Error{Limit: packagelimits.OfEntries, Size: int64(n), Max: int64(s.limits.Objects)}}
	}
	return int(n), nil
}

// entry reads the kind, in the three bits after the highest of the first byte, the size in the other bits, least
// significant first, and the base.
func (s *packScanner) entry() (packEntry, error) {
	e := packEntry{offset: s.stream.size - int64(s.in.Buffered())}
	b, err := s.in.ReadByte()
	if err != nil {
		return e, err
	}
	e.kind, e.size = packKinds[b>>4&7], int64(b&15)
	number := b >> 4 & 7
	for shift := 4; b&0x80 != 0; shift += 7 {
		if shift > maxSizeBits-7 {
			return e, fmt.Errorf("%w: an object's size is out of range", ErrMalformed)
		}
		if b, err = s.in.ReadByte(); err != nil {
			return e, err
		}
		e.size |= int64(b&0x7f) << shift
	}
	if err := s.checkSize(e.size); err != nil {
		return e, err
	}
	switch e.kind {
	case git.KindCommit, git.KindTree, git.KindBlob, git.KindTag:
		return e, nil
	case offsetDelta:
		distance, err := s.distance()
		e.base = e.offset - distance
		return e, err
	case nameDelta:
		_, err := io.ReadFull(s.in, e.baseID[:])
		return e, err
	}
	return e, fmt.Errorf("%w: an object of an unknown kind %d", ErrMalformed, number)
}

// distance reads groups of seven bits, most significant first. All but the last are stored minus one.
func (s *packScanner) distance() (int64, error) {
	var distance int64
	for {
		b, err := s.in.ReadByte()
		if err != nil {
			return 0, err
		}
		if distance |= int64(b & 0x7f); b&0x80 == 0 {
			return distance, nil
		}
		if distance >= 1<<(maxSizeBits-7) {
			return 0, fmt.Errorf("%w: a delta's distance is out of range", ErrMalformed)
		}
		distance = (distance + 1) << 7
	}
}

// content calls read, which must read exactly the size.
func (s *packScanner) content(read func(io.Reader) error) error {
	var err error
	if s.inflate == nil {
		s.inflate, err = zlib.NewReader(s.in)
	} else {
		err = s.inflate.(zlib.Resetter).Reset(s.in, nil)
	}
	if err == nil {
		err = read(s.inflate)
	}
	if err == nil {
		// The checksum of the content is checked only at its end.
		var more [1]byte
		if _, err = io.ReadFull(s.inflate, more[:]); err == nil {
			err = errors.New("an object is longer than it says")
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

func (s *packScanner) end() error {
	if _, err := io.CopyN(io.Discard, s.in, checksumSize); err != nil {
		return err
	}
	if _, err := s.in.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: bytes follow its end", ErrMalformed)
	}
	if !s.stream.matches() {
		return fmt.Errorf("%w: its checksum does not match", ErrMalformed)
	}
	return nil
}

func (s *packScanner) checkSize(size int64) error {
	if size < 0 || size > s.limits.ObjectBytes {
		return &LimitError{packagelimits.Error{Limit: packagelimits.OfTree, Size: size, Max: s.limits.ObjectBytes}}
	}
	return nil
}

// count is called before memory is allocated.
func (s *packScanner) count(size int64) error {
	if s.inflated += size; s.inflated > s.limits.TotalBytes {
		return fmt.Errorf("%w: %w: %w", git.ErrTooLarge, ErrTooLarge, &packagelimits.Error{Limit: packagelimits.OfTree, Max: s.limits.TotalBytes})
	}
	return nil
}

// summed computes the checksum of a stream, whose last 20 bytes are the checksum of all before them.
type summed struct {
	in   io.Reader
	sum  hash.Hash
	tail []byte // the last bytes read so far, at most checksumSize
	size int64
	err  error // the error of the stream, except io.EOF
}

func (c *summed) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.take(p[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

func (c *summed) take(p []byte) {
	c.size += int64(len(p))
	if whole := max(0, len(p)-checksumSize); whole > 0 {
		c.sum.Write(c.tail)
		c.sum.Write(p[:whole])
		c.tail = append(c.tail[:0], p[whole:]...)
		return
	}
	c.tail = append(c.tail, p...)
	if old := len(c.tail) - checksumSize; old > 0 {
		c.sum.Write(c.tail[:old])
		c.tail = append(c.tail[:0], c.tail[old:]...)
	}
}

func (c *summed) matches() bool { return bytes.Equal(c.tail, c.sum.Sum(nil)) }
