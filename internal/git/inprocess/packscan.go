package inprocess

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
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

// reservedType is not a kind of object; see gitformat-pack(5).
const reservedType plumbing.ObjectType = 5

// packScanner reads the entries of a pack in their order, and enforces the limits before memory
// is allocated. go-git parses the format; see gitformat-pack(5).
type packScanner struct {
	limits  PackLimits
	stream  *packSource
	entries *packfile.Scanner
	// inflated is the sum of the sizes of the objects so far.
	inflated int64
}

func newPackScanner(stream io.Reader, limits PackLimits) *packScanner {
	s := &packSource{Reader: stream}
	return &packScanner{limits: limits, stream: s, entries: packfile.NewScanner(io.MultiReader(s, strings.NewReader(endMark)))}
}

// endMark is passed to go-git after the end of the stream. It is the header of an empty blob.
// go-git only reports the position of an entry, so it is needed to learn the position of the end.
const endMark = "\x30"

// packSource is a stream that remembers its size and its error.
type packSource struct {
	io.Reader
	size int64
	err  error // nil also at the end
}

func (s *packSource) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.size += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// scan calls each with the header of every entry. each must call content. The error wraps one of
// this file, or is the error of each or of the stream. Data after the pack is an error.
func (s *packScanner) scan(each func(*packfile.ObjectHeader) error) error {
	_, count, err := s.entries.Header()
	if err != nil {
		return s.explain(err)
	}
	if int64(count) > int64(s.limits.Objects) {
		return fmt.Errorf("%w: it has %d objects, over %d", ErrTooLarge, count, s.limits.Objects)
	}
	for range count {
		header, err := s.entries.NextObjectHeader()
		switch {
		case errors.Is(err, packfile.ErrMalformedPackFile) && !errors.Is(err, packfile.ErrLengthOverflow) && s.stream.err == nil:
			return ErrBase // the only other error of go-git that wraps this one
		case err != nil:
			return s.explain(err)
		case !header.Type.Valid() || header.Type == reservedType:
			return fmt.Errorf("%w: an object of an unknown kind %d", ErrMalformed, header.Type)
		}
		if err := s.checkSize(header.Length); err != nil {
			return err
		}
		if err := each(header); err != nil {
			return err
		}
	}
	if _, err := s.entries.Checksum(); err != nil {
		return s.explain(err)
	}
	if end, err := s.entries.NextObjectHeader(); err != nil || end.Offset != s.stream.size {
		return s.explain(errors.New("bytes follow its end, or it ends early"))
	}
	return nil
}

// content inflates an entry. It must have exactly the size in its header.
func (s *packScanner) content(header *packfile.ObjectHeader, out io.Writer) error {
	size, _, err := s.entries.NextObject(out)
	if err == nil && size != header.Length {
		err = fmt.Errorf("an object has %d bytes instead of %d", size, header.Length)
	}
	if err != nil {
		return s.explain(err)
	}
	return nil
}

// explain returns the error of the stream, if there is one, instead of err, which is its
// consequence. Otherwise err is an error of go-git.
func (s *packScanner) explain(err error) error {
	switch {
	case s.stream.err != nil:
		return s.stream.err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it ends early", ErrMalformed)
	}
	return fmt.Errorf("%w: %w", ErrMalformed, err)
}

func (s *packScanner) checkSize(size int64) error {
	if size < 0 || size > s.limits.ObjectBytes {
		return fmt.Errorf("%w: an object has %d bytes, over %d", ErrTooLarge, size, s.limits.ObjectBytes)
	}
	return nil
}

// count adds to the sum of the sizes.
func (s *packScanner) count(size int64) error {
	if s.inflated += size; s.inflated > s.limits.TotalBytes {
		return fmt.Errorf("%w: its objects have more than %d bytes", ErrTooLarge, s.limits.TotalBytes)
	}
	return nil
}

// deltaTarget returns the size of the object that a delta produces, and checks it. It is the
// second of the two numbers at the start of the delta, in groups of seven bits, least
// significant group first.
func (s *packScanner) deltaTarget(delta []byte) (size int64, err error) {
	const maxShift = 49 // larger numbers exceed every limit
	in := bytes.NewReader(delta)
	for range 2 {
		size = 0
		for shift, more := 0, true; more; shift += 7 {
			b, err := in.ReadByte()
			switch {
			case err != nil:
				return 0, fmt.Errorf("%w: a delta has no size", ErrMalformed)
			case shift > maxShift:
				return 0, fmt.Errorf("%w: %w: a delta's size is out of range", ErrMalformed, ErrTooLarge)
			}
			size |= int64(b&0x7f) << shift
			more = b&0x80 != 0
		}
	}
	return size, s.checkSize(size)
}
