package hashing

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
)

// sumFiles sets the kinds, sizes and sums of all files. It returns the error of the first path that
// fails.
func (r Reader) sumFiles(ctx context.Context, fsys fs.FS, entries []Entry) error {
	var (
		workers sync.WaitGroup
		next    atomic.Int64
		first   firstError
	)
	limits := limits{maxFile: r.MaxFile, maxTree: r.MaxTree}
	for range min(runtime.GOMAXPROCS(0), len(entries)) {
		workers.Go(func() {
			files := summer{opener: newOpener(fsys), ctx: ctx, limits: &limits, hash: sha256.New()}
			defer files.close()
			for !first.isSet() {
				i := int(next.Add(1)) - 1
				if i >= len(entries) {
					return
				}
				if err := files.sum(&entries[i]); err != nil {
					first.set(i, &TreeError{Path: entries[i].Path, Err: err})
				}
			}
		})
	}
	workers.Wait()
	return first.err
}

// firstError keeps the error with the lowest index. Indices are assigned in order, so all
// lower ones are finished when the workers have stopped.
type firstError struct {
	failed atomic.Bool
	mutex  sync.Mutex
	index  int
	err    error
}

func (f *firstError) isSet() bool { return f.failed.Load() }

func (f *firstError) set(index int, err error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.err == nil || index < f.index {
		f.index, f.err = index, err
	}
	f.failed.Store(true)
}

// limits are the limits of the sizes of a tree's files. 0 means no limit.
type limits struct {
	maxFile, maxTree int64
	// total is the size of the files that were read or are being read.
	total atomic.Int64
}

// add is called before a file of this size is read.
func (l *limits) add(size int64) error {
	if l.maxFile > 0 && size > l.maxFile || l.maxTree > 0 && size > l.maxTree {
		return errLarge
	}
	if l.maxTree > 0 && l.total.Add(size) > l.maxTree {
		return fmt.Errorf("the files of the tree have more than %d bytes", l.maxTree)
	}
	return nil
}

// maxBuffer is the maximum size of a read. It is larger than the buffer of io.Copy.
const maxBuffer = 64 << 10

// summer sums one file after another. Its buffer grows with the size of the files, because most trees have only small
// ones.
type summer struct {
	*opener
	ctx    context.Context
	limits *limits
	hash   hash.Hash
	buffer []byte
}

func (s *summer) sum(e *Entry) error {
	if !e.isFile() {
		return nil
	}
	name, err := s.enter(e.Path)
	if err != nil {
		return err
	}
	s.hash.Reset()
	if s.files != nil {
		err = s.read(e, name)
	} else {
		err = s.readFS(e, name)
	}
	s.hash.Sum(e.Sum[:0])
	return err
}

// begin is called with what is known of a file before it is read.
func (s *summer) begin(e *Entry, size int64, mode fs.FileMode) error {
	if !mode.IsRegular() {
		return errChanged // it was a regular file before
	}
	if err := s.limits.add(size); err != nil {
		return err
	}
	if want := int(min(size+1, maxBuffer)); len(s.buffer) < want {
		s.buffer = make([]byte, want)
	}
	if mode&0o100 != 0 {
		e.Kind = ExecFile
	}
	e.Size = size
	return nil
}

// read reads a file on disk. It asks for one byte more than the file had in the beginning, so it ends even if the file grows
// or has no end.
func (s *summer) read(e *Entry, name string) error {
	f, err := s.files.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	state, err := f.Stat()
	if err != nil {
		return err
	}
	if err := s.begin(e, state.Size, state.Mode); err != nil {
		return err
	}
	sized := pathsafe.SizedReader{File: f, Left: state.Size}
	var done int64
	for done <= state.Size {
		if err := ctxerr.Of(s.ctx); err != nil {
			return err
		}
		part := s.buffer[:min(int64(len(s.buffer)), state.Size+1-done)]
		n, err := sized.Read(part)
		if err != nil && err != io.EOF { //nolint:errorlint // readers return it unwrapped
			return err
		}
		s.hash.Write(part[:n])
		done += int64(n)
		if err != nil {
			break
		}
	}
	if done != state.Size {
		return errChanged
	}
	return nil
}

// readFS reads a file of any file system. It reads at most one byte more than the initial size.
func (s *summer) readFS(e *Entry, name string) error {
	f, err := s.last.file(name)
	if err != nil {
		return err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return err
	}
	if err := s.begin(e, before.Size(), before.Mode()); err != nil {
		return err
	}
	n, err := io.CopyBuffer(s.hash, ctxerr.Reader(s.ctx, io.LimitReader(f, before.Size()+1)), s.buffer)
	if err != nil {
		return err
	}
	after, err := f.Stat()
	if err != nil {
		return err
	}
	if n != before.Size() || after.Size() != n {
		return errChanged
	}
	return nil
}
