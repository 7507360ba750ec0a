package hashing

import (
	"crypto/sha256"
	"io"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
)

// sumFiles sets the kinds, sizes and sums of all files, using all processors. It returns
// the error of the first path that fails.
func sumFiles(fsys fs.FS, entries []Entry, maxFile int64) error {
	var (
		workers sync.WaitGroup
		next    atomic.Int64
		first   firstError
	)
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
				if err := sumFile(files, &entries[i], maxFile, &buffer); err != nil {
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

// maxBuffer is the maximum size of a read. It is larger than the buffer of io.Copy.
const maxBuffer = 64 << 10

// sumFile sets the kind, size and sum of one file. The buffer grows with the size of the
// files, because most trees have only small ones. sumFile reads at most one byte more than
// the file's initial size, so that it ends even if the file grows or has no end.
func sumFile(files *opener, e *Entry, maxFile int64, buffer *[]byte) error {
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
	if maxFile > 0 && before.Size() > maxFile {
		return errLarge
	}
	if want := int(min(before.Size()+1, maxBuffer)); len(*buffer) < want {
		*buffer = make([]byte, want)
	}
	hash := sha256.New()
	n, err := io.CopyBuffer(hash, io.LimitReader(f, before.Size()+1), *buffer)
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
