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

	"github.com/cotterpin/cotter/internal/git"
	"github.com/klauspost/compress/zlib"
)

// The reasons why a pack could not be read, in addition to errors of the stream.
var (
	// ErrMalformed means that the data is not a pack, or is a damaged pack.
	ErrMalformed = errors.New("the git pack is damaged")
	// ErrBase means that the base of a delta is not among the objects before it.
	ErrBase = errors.New("the git pack holds a delta without its base")
	// ErrTooLarge means that the pack exceeds one of the limits.
	ErrTooLarge = errors.New("the git pack is too large")
	// ErrCollision means that an object was constructed to have the same name as another one.
	ErrCollision = errors.New("the git pack holds an object of a SHA-1 collision")
)

// PackLimits bound the content of one pack. All of them must be set.
type PackLimits struct {
	// Objects bounds the number of objects.
	Objects int
	// ObjectBytes bounds the size of one object. Up to three objects of this size are in memory
	// while a delta is applied.
	ObjectBytes int64
	// TotalBytes bounds the sum of the objects' sizes.
	TotalBytes int64
	// MemoryBytes is how much of TotalBytes is kept in memory. Exceeding it is not an error:
	// the rest goes to a temporary file.
	MemoryBytes int64
}

const (
	packVersion    = 2
	packHeaderSize = 12
	checksumSize   = 20
	readBuffer     = 32 << 10
	// maxSizeBits bounds sizes and offsets that are encoded in groups of bits, so that they fit
	// into an int64.
	maxSizeBits = 60
)

// packScanner reads the entries of a pack in their order, and enforces the limits before memory
// is allocated. The format is version 2 of gitformat-pack(5), with SHA-1 object names.
type packScanner struct {
	limits  PackLimits
	stream  *summed
	in      *bufio.Reader
	inflate io.ReadCloser // nil before the first use
	// inflated is the sum of the sizes of the objects so far.
	inflated int64
}

// objectName is the name of an object: its SHA-1 sum.
type objectName [sha1.Size]byte

// The kinds of deltas, whose base is at an offset in the pack, or has a name.
const (
	offsetDelta git.Kind = "offset delta"
	nameDelta   git.Kind = "name delta"
)

// packKinds are the kinds of entries by their numbers in gitformat-pack(5); "" is no kind.
var packKinds = [8]git.Kind{1: git.KindCommit, git.KindTree, git.KindBlob, git.KindTag, 6: offsetDelta, nameDelta}

// packEntry is what precedes the compressed content of an entry.
type packEntry struct {
	kind   git.Kind
	offset int64 // in the pack
	// size is the size of the content: an object or a delta.
	size int64
	// base is the offset of the base of an offset delta, and baseID the name of the
	// base of a name delta.
	base   int64
	baseID objectName
}

func newPackScanner(stream io.Reader, limits PackLimits) *packScanner {
	s := &packScanner{limits: limits, stream: &summed{in: stream, sum: sha1.New()}}
	s.in = bufio.NewReaderSize(s.stream, readBuffer)
	return s
}

// scan calls each for every entry. each must read the content. The error wraps one of this file,
// or is the error of each or of the stream. Data after the pack is an error.
func (s *packScanner) scan(each func(packEntry) error) error {
	count, err := s.header()
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

// header reads the signature, the version and the number of objects.
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
		return 0, fmt.Errorf("%w: it has %d objects, over %d", ErrTooLarge, n, s.limits.Objects)
	}
	return int(n), nil
}

// entry reads the kind and the size of an entry, and the reference to its base. The kind is in
// the three bits after the highest bit of the first byte. The size is in the other bits, least
// significant first.
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

// distance reads how far back in the pack the base of a delta is. It is encoded in groups of
// seven bits, most significant group first. All groups except the last are stored minus one.
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

// content inflates the content of an entry. read must read exactly its size.
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

// end checks the end of the pack: the checksum follows the last object, and no other data.
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
		return fmt.Errorf("%w: an object has %d bytes, over %d", ErrTooLarge, size, s.limits.ObjectBytes)
	}
	return nil
}

// count adds to the sum of the objects' sizes. It is called before memory is allocated.
func (s *packScanner) count(size int64) error {
	if s.inflated += size; s.inflated > s.limits.TotalBytes {
		return fmt.Errorf("%w: its objects have more than %d bytes", ErrTooLarge, s.limits.TotalBytes)
	}
	return nil
}

// summed is a reader that computes the checksum of a stream. The last 20 bytes of the stream are
// the checksum of all bytes before them.
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

// take adds all but the last bytes read so far to the checksum.
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

// matches reports whether the last bytes read so far are the checksum of all bytes before them.
func (c *summed) matches() bool { return bytes.Equal(c.tail, c.sum.Sum(nil)) }
