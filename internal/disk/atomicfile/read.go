package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

var ErrTooLarge = errors.New("is too large")

// Read returns the content of a file. The error wraps fs.ErrNotExist, [ErrIrregular], or [ErrTooLarge] for
// more than limit bytes. It does not follow symbolic links and does not block on pipes.
func Read(root *os.Root, name string, limit int64) ([]byte, error) {
	file, err := open(root, name, limit)
	if err != nil {
		return nil, namedError("read", root, name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, namedError("read", root, name, err)
	}
	var data bytes.Buffer
	data.Grow(int(info.Size()) + bytes.MinRead) // so that the file is read at once
	if _, err = data.ReadFrom(io.LimitReader(file, limit+1)); err == nil && int64(data.Len()) > limit {
		err = ErrTooLarge // it has grown in the meantime
	}
	if err != nil {
		return nil, namedError("read", root, name, err)
	}
	return data.Bytes(), nil
}

// Open opens a file by the rules of [Read].
func Open(root *os.Root, name string, limit int64) (*os.File, error) {
	file, err := open(root, name, limit)
	if err != nil {
		return nil, namedError("read", root, name, err)
	}
	return file, nil
}

func open(root *os.Root, name string, limit int64) (_ *os.File, err error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, irregular(info)
	}
	file, err := root.OpenFile(name, os.O_RDONLY|pathsafe.Nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = file.Close() // it was not read
		}
	}()
	// Another program may have replaced the file.
	opened, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(info, opened) {
		return nil, ErrChanged
	}
	if opened.Size() > limit {
		return nil, fmt.Errorf("%w: %d bytes, and %d are allowed", ErrTooLarge, opened.Size(), limit)
	}
	return file, nil
}

func irregular(info fs.FileInfo) error {
	what := "a special file"
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		what = "a symbolic link"
	case mode.IsDir():
		what = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	}
	return fmt.Errorf("%w but %s", ErrIrregular, what)
}

// Sweep removes the temporary files of a target that crashed processes have left. No other process may be
// replacing it.
func Sweep(root *os.Root, name string) {
	dir, err := root.Open(path.Dir(name))
	if err != nil {
		return
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if IsTemporary(path.Base(name), entry.Name()) && entry.Type().IsRegular() {
			_ = root.Remove(path.Join(path.Dir(name), entry.Name()))
		}
	}
}

const randomLength = 26

// IsTemporary reports whether name is that of a temporary file of a target.
func IsTemporary(target, name string) bool {
	random, ok := strings.CutPrefix(name, path.Join(path.Dir(target), "."+path.Base(target)+"."))
	if ok {
		random, ok = strings.CutSuffix(random, tempEnding)
	}
	return ok && len(random) == randomLength
}
