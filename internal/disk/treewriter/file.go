package treewriter

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sync"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// buffers are for the content of files. Some readers copy more at once than a small buffer holds.
var buffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// write creates a registered file with the content of r. Calls for several files can be concurrent.
func (w *Writer) write(parent *pathsafe.DirFiles, name string, exec bool, r content) error {
	e := hashing.Entry{Path: name, Kind: hashing.File}
	mode := fileMode
	if exec {
		e.Kind, mode = hashing.ExecFile, execMode
	}
	f, err := parent.Create(path.Base(name), mode)
	if err != nil {
		return w.notStored(name, err)
	}
	kept, err := w.setMode(f, mode)
	if err == nil {
		err = w.fill(f, &e, r)
	}
	err = errors.Join(err, f.Close())
	if !w.sums {
		return err
	}
	w.summed.Lock()
	defer w.summed.Unlock()
	w.summed.files = append(w.summed.files, e)
	w.summed.lost = w.summed.lost || !kept
	return err
}

// setMode gives a new file its mode, and reports whether the file system has kept it.
func (w *Writer) setMode(f *pathsafe.OpenFile, mode fs.FileMode) (kept bool, err error) {
	asCreated := w.asCreated[mode]
	if asCreated.Load() {
		return true, nil
	}
	state, err := f.Stat()
	if err == nil && state.Mode.Perm() == mode {
		asCreated.Store(true)
		return true, nil
	}
	if err = errors.Join(err, f.Chmod(mode)); err != nil {
		return false, err
	}
	state, err = f.Stat()
	return state.Mode.Perm() == mode, err
}

// content is what a file is written from.
type content struct {
	io.Reader
	// onDisk is the file that Reader reads, or nil. Its size is known.
	onDisk *pathsafe.OpenFile
	size   int64
}

// sharedSize is from which size on it pays to let the system copy a file, or share its blocks.
const sharedSize = 64 << 10

// fill copies the content up to the limits, and sets the size of e, and the sum if there will be a tree. Concurrent calls may
// together exceed the tree's limit before one notices.
func (w *Writer) fill(f *pathsafe.OpenFile, e *hashing.Entry, r content) (err error) {
	room := min(w.limits.FileBytes, w.limits.TreeBytes-w.bytes.Load())
	if r.onDisk != nil && r.size > room {
		return w.tooLarge(e.Path, r.size) // a file without blocks can have any size
	}
	buffer := buffers.Get().(*[64 << 10]byte)
	defer buffers.Put(buffer)
	sum := sha256.New()
	if r.onDisk != nil && r.size >= sharedSize {
		e.Size, err = w.share(f, r, room, sum, buffer[:])
	} else {
		e.Size, err = w.stream(f, r, room, sum, buffer[:])
	}
	switch {
	case err != nil:
		return fmt.Errorf("%q: %w", e.Path, err)
	case e.Size > room || w.bytes.Add(e.Size) > w.limits.TreeBytes:
		return w.tooLarge(e.Path, e.Size)
	}
	sum.Sum(e.Sum[:0])
	return nil
}

// stream returns the number of bytes that were copied, which may be one more than room.
func (w *Writer) stream(f *pathsafe.OpenFile, r content, room int64, sum io.Writer, buffer []byte) (done int64, err error) {
	to := w.disk.Writer(f)
	for done <= room {
		part := buffer[:min(int64(len(buffer)), room+1-done)]
		n, err := r.Read(part)
		done += int64(n)
		ended := err == io.EOF //nolint:errorlint // readers return it unwrapped
		if err != nil && !ended {
			return done, err
		}
		if w.sums {
			_, _ = sum.Write(part[:n])
		}
		if n > 0 {
			if _, err := to.Write(part[:n]); err != nil {
				return done, err
			}
		}
		if ended {
			break
		}
	}
	return done, nil
}

// share is stream for large files. It reads the copy for the sum.
func (w *Writer) share(f *pathsafe.OpenFile, r content, room int64, sum io.Writer, buffer []byte) (int64, error) {
	if err := w.disk.Take(r.size); err != nil {
		return 0, err
	}
	to := f.OSFile()
	n, err := io.Copy(to, io.LimitReader(r.onDisk.OSFile(), room+1))
	if err != nil || !w.sums {
		return n, err
	}
	_, err = io.CopyBuffer(sum, io.NewSectionReader(to, 0, n+1), buffer)
	return n, err
}

func (w *Writer) tooLarge(name string, size int64) error {
	if size > w.limits.FileBytes && w.limits.FileBytes < w.limits.TreeBytes {
		return &packagelimits.Error{Limit: packagelimits.OfFile, Path: name, Max: w.limits.FileBytes}
	}
	return &packagelimits.Error{Limit: packagelimits.OfTree, Path: name, Max: w.limits.TreeBytes}
}
