package lockfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/cotterpin/cotter/internal/atomicfile"
)

var (
	// ErrChanged says that the file changed since it was read.
	ErrChanged = atomicfile.ErrChanged

	// ErrIrregular says that a link, a directory or a device stands where the
	// lock file should be.
	ErrIrregular = atomicfile.ErrIrregular
)

// ReadFile reads the lock file of the given name in root. Where there is none
// the result is an empty file. What is wrong with the content is an
// hcl.Diagnostics in the error, what is wrong with the file an *fs.PathError,
// over [ErrIrregular] for what is not a regular file: links are not followed.
func ReadFile(root *os.Root, name string) (*File, error) {
	src, err := read(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{}, nil
	}
	if err != nil {
		return nil, err
	}
	file, diags := Parse(src, name)
	if diags.HasErrors() {
		return nil, diags
	}
	return file, nil
}

func read(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrIrregular}
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// One byte more than allowed, for Parse to refuse.
	return io.ReadAll(io.LimitReader(file, MaxSize+1))
}

// WriteFile writes the file under a name in root and reports whether it did: if
// nothing changed since f was read, or written, it does nothing. The file must
// still hold the bytes that were read, or not exist if nothing was; else the
// error wraps [ErrChanged] and the file is as it was. It is replaced as a whole:
// a crash leaves the old file or the new one. Errors are those of [File.Check]
// or *fs.PathError.
func (f *File) WriteFile(root *os.Root, name string) (bool, error) {
	if err := f.Check(); err != nil {
		return false, err
	}
	data := f.Bytes()
	if bytes.Equal(data, f.src) {
		return false, nil
	}
	// What is written must be readable. This cannot fail unless the package is
	// wrong, and then the user's file should not pay for it.
	written, diags := Parse(data, name)
	if diags.HasErrors() {
		return false, &fs.PathError{Op: "write", Path: name, Err: fmt.Errorf("the new content would be invalid: %w", diags)}
	}
	if err := atomicfile.Write(root, name, data, atomicfile.Options{Swap: true, Old: f.src}); err != nil {
		return false, err
	}
	*f = *written
	return true, nil
}
