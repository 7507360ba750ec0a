package inprocess

import (
	"context"
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

// Limits bounds the cost of a fetch.
type Limits struct {
	// PackBytes bounds the size of a pack, and ObjectBytes the size of a single object.
	PackBytes, ObjectBytes int64
}

// maxPackObjects bounds the number of objects in a pack. Each takes about 200 bytes of memory.
// Only the histories of the largest projects have as many.
const maxPackObjects = 2_000_000

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
	if _, err := io.Copy(file, &limitedReader{r: stream, left: p.limits.PackBytes, what: "pack"}); err != nil {
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

// malformed wraps an error of reading a pack in an *Error, unless it has another cause.
func malformed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	kind := Broken
	if errors.Is(err, ErrTooLarge) {
		kind = TooLarge
	}
	return &Error{Kind: kind, Message: "the server's pack cannot be used", Err: err}
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

// check checks all objects of the pack before go-git reads them into memory. This is needed
// because go-git has no limits, and accepts objects that are shorter than their headers say.
func (p pack) check(file *packFile) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s := newPackScanner(file, PackLimits{Objects: maxPackObjects, ObjectBytes: p.limits.ObjectBytes})
	return s.scan(func(e packEntry) error {
		start := make([]byte, min(e.size, maxDeltaSizes))
		err := s.content(func(in io.Reader) error {
			if _, err := io.ReadFull(in, start); err != nil {
				return err
			}
			_, err := io.CopyN(io.Discard, in, e.size-int64(len(start)))
			return err
		})
		if err != nil || !e.kind.IsDelta() {
			return err
		}
		d, err := parseDelta(start)
		if err != nil {
			return err
		}
		return s.checkSize(d.size)
	})
}

// maxDeltaSizes bounds the size of the two numbers at the start of a delta, in bytes.
const maxDeltaSizes = 32

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
