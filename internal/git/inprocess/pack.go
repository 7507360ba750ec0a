package inprocess

import (
	"context"
	"crypto/sha1" //nolint:gosec // the checksum of git's packs, which guards against accidents only
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// maxPackObjects bounds the number of objects in a pack. Each takes about 200 bytes of memory.
// Only the histories of the largest projects have as many.
const maxPackObjects = 2_000_000

// reservedType is not a kind of object; see gitformat-pack(5).
const reservedType plumbing.ObjectType = 5

// pack is a pack that is received and written to disk.
type pack struct {
	dir, name string
	limits    Limits
}

// receive writes a pack to disk, checks it, and indexes its objects.
func (p pack) receive(ctx context.Context, stream io.Reader) (_ *Objects, err error) {
	disk := osfs.New(p.dir)
	f, err := disk.Create(p.name)
	if err != nil {
		return nil, err
	}
	file := &packFile{File: f, ctx: ctx}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), disk.Remove(p.name))
		}
	}()
	if err := p.write(file, stream); err != nil {
		return nil, err
	}
	if err := p.check(file); err != nil {
		return nil, malformed(ctx, err)
	}
	index, err := indexPack(file)
	if err != nil {
		return nil, malformed(ctx, err)
	}
	packed := packfile.NewPackfile(index, nil, file, 0)
	return &Objects{
		get:   packed.Get,
		ids:   indexed(index),
		close: func() error { return errors.Join(f.Close(), disk.Remove(p.name)) },
	}, nil
}

// malformed wraps an error of reading a pack in an *Error of the kind Broken, unless it has
// another cause.
func malformed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return &Error{Kind: Broken, Message: "the server's pack is damaged", Err: err}
}

// packFile is a file whose reads fail when a context is done. This is needed because indexing a
// large pack takes minutes.
type packFile struct {
	billy.File
	ctx context.Context
}

func (f *packFile) Read(p []byte) (int, error) {
	if f.ctx.Err() != nil {
		return 0, context.Cause(f.ctx)
	}
	return f.File.Read(p)
}

// write copies the pack to the file and verifies its checksum.
func (p pack) write(file io.Writer, stream io.Reader) error {
	sum := &trailer{sum: sha1.New()}
	limited := &limitedReader{r: stream, left: p.limits.PackBytes, what: "pack"}
	if _, err := io.Copy(io.MultiWriter(file, sum), limited); err != nil {
		return err
	}
	if !sum.matches() {
		return failure(Broken, "the server's pack is incomplete, or its checksum is wrong")
	}
	return nil
}

// check checks all objects of the pack before go-git reads them into memory.
func (p pack) check(file *packFile) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s := packfile.NewScanner(file)
	_, count, err := s.Header()
	if err != nil {
		return err
	}
	if count > maxPackObjects {
		return failure(TooLarge, "the pack has %d objects, more than %d", count, maxPackObjects)
	}
	for range count {
		if err := p.checkNext(s); err != nil {
			return err
		}
	}
	return nil
}

// checkNext checks the kind and the sizes of one object. This is needed because go-git accepts
// objects that are shorter than their headers say.
func (p pack) checkNext(s *packfile.Scanner) error {
	header, err := s.NextObjectHeader()
	if err != nil {
		return err
	}
	if !header.Type.Valid() || header.Type == reservedType {
		return failure(Broken, "the pack has an object of the kind %d", header.Type)
	}
	if err := p.checkSize(header.Length); err != nil {
		return err
	}
	start := &prefix{}
	size, _, err := s.NextObject(start)
	if err != nil {
		return err
	}
	if size != header.Length {
		return failure(Broken, "an object of the pack has %d bytes instead of %d", size, header.Length)
	}
	if !header.Type.IsDelta() {
		return nil
	}
	return p.checkSize(deltaTarget(start.text))
}

func (p pack) checkSize(size int64) error {
	if size < 0 || size > p.limits.ObjectBytes {
		return failure(TooLarge, "an object of the pack has more than %d bytes", p.limits.ObjectBytes)
	}
	return nil
}

// deltaTarget returns the size of the object that a delta produces. It is the second of the two
// numbers at the start of the delta; see gitformat-pack(5). If the number is too large, the
// result is negative.
func deltaTarget(delta []byte) int64 {
	var size uint64
	for range 2 {
		size = 0
		for shift := 0; ; shift += 7 {
			if len(delta) == 0 {
				return 0 // malformed, which go-git detects
			}
			b := delta[0]
			delta = delta[1:]
			if shift > 56 {
				return -1
			}
			size |= uint64(b&0x7f) << shift
			if b&0x80 == 0 {
				break
			}
		}
	}
	return int64(size)
}

// indexPack computes the names of all objects by reconstructing each of them.
func indexPack(file *packFile) (*idxfile.MemoryIndex, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	writer := &idxfile.Writer{}
	parser, err := packfile.NewParser(packfile.NewScanner(file), writer)
	if err != nil {
		return nil, err
	}
	if _, err := parser.Parse(); err != nil {
		return nil, err
	}
	return writer.Index()
}

// indexed returns a function that returns the names in an index that begin with a prefix.
func indexed(index *idxfile.MemoryIndex) func(prefix string) ([]plumbing.Hash, error) {
	return func(prefix string) (ids []plumbing.Hash, err error) {
		entries, err := index.Entries()
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, entries.Close()) }()
		for {
			entry, err := entries.Next()
			if errors.Is(err, io.EOF) {
				return ids, nil
			}
			if err != nil {
				return nil, fmt.Errorf("the index of the pack: %w", err)
			}
			if strings.HasPrefix(entry.Hash.String(), prefix) {
				ids = append(ids, entry.Hash)
			}
		}
	}
}
