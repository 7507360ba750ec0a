package hashing

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cotterpin/cotter/internal/ctxerr"
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
			var buffer []byte
			files := newOpener(fsys)
			defer files.close()
			for !first.isSet() {
				i := int(next.Add(1)) - 1
				if i >= len(entries) {
					return
				}
				if err := sumFile(ctx, files, &entries[i], &limits, &buffer); err != nil {
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

// sumFile grows the buffer with the size of the files, because most trees have only small ones. It reads
// at most one byte more than the initial size, so that it ends even if the file grows or has no end.
func sumFile(ctx context.Context, files *opener, e *Entry, limits *limits, buffer *[]byte) error {
	if !e.isFile() {
		return nil
	}
	f, err := files.open(e.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return err
	}
	if !before.Mode().IsRegular() {
		return errChanged // it was a regular file before
	}
	if err := limits.add(before.Size()); err != nil {
		return err
	}
	if want := int(min(before.Size()+1, maxBuffer)); len(*buffer) < want {
		*buffer = make([]byte, want)
	}
	hash := sha256.New()
	n, err := io.CopyBuffer(hash, ctxerr.Reader(ctx, io.LimitReader(f, before.Size()+1)), *buffer)
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
	if before.Mode()&0o100 != 0 {
		e.Kind = ExecFile
	}
	e.Size = n
	hash.Sum(e.Sum[:0])
	return nil
}
