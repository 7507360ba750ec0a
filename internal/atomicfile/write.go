package atomicfile

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
)

var (
	// ErrChanged says that the target does not hold the bytes, or is not
	// absent, as [Options.Old] has it.
	ErrChanged = errors.New("changed by someone else in the meantime")

	// ErrIrregular says that the target is neither absent nor a regular file.
	ErrIrregular = errors.New("is not a regular file")
)

// newFileMode is what stock tools give their lock files.
const newFileMode fs.FileMode = 0o644

// Options tells when and how a file may be replaced. The zero value means always,
// and durably.
type Options struct {
	// Swap makes the write conditional on Old.
	Swap bool
	// Old is what the target must hold still. Nil means that there must be no
	// target; an empty file is an empty slice that is not nil, as
	// os.ReadFile returns it.
	Old []byte
	// Disposable is for what can be made again, and is checked when it is read:
	// the disk is not waited for. When the machine fails, anything may be left.
	Disposable bool
}

// WriteFile is [Write] for a path of the operating system. Links in the path's
// directories are followed.
func WriteFile(name string, data []byte, opts Options) error {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer root.Close()
	return Write(root, filepath.Base(name), data, opts)
}

// Write makes data the content of the file name in root. The directory part of
// name, if any, uses slashes and must exist.
func Write(root *os.Root, name string, data []byte, opts Options) error {
	if err := write(root, name, data, opts); err != nil {
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return &fs.PathError{Op: "replace", Path: name, Err: err}
	}
	return nil
}

func write(root *os.Root, name string, data []byte, opts Options) (err error) {
	info, err := lstat(root, name)
	if err != nil {
		return err
	}
	mode := newFileMode
	if info != nil {
		mode = info.Mode().Perm()
	}
	temp := path.Join(path.Dir(name), "."+path.Base(name)+"."+rand.Text()+".tmp")
	if err := writeTemp(root, temp, data, mode, opts); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = root.Remove(temp) // gone already where only the sync failed
		}
	}()
	if err := check(root, name, opts); err != nil {
		return err
	}
	if err := root.Rename(temp, name); err != nil || opts.Disposable {
		return err
	}
	return syncDir(root, path.Dir(name))
}

// lstat is nil, nil where the target is absent.
func lstat(root *os.Root, name string) (fs.FileInfo, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, ErrIrregular
	}
	return info, nil
}

func writeTemp(root *os.Root, temp string, data []byte, mode fs.FileMode, opts Options) (err error) {
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			_ = root.Remove(temp)
		}
	}()
	if _, err := file.Write(data); err != nil {
		return err
	}
	if err := file.Chmod(mode); err != nil || opts.Disposable {
		return err
	}
	return file.Sync()
}

// check looks at the target once more, right before the rename.
func check(root *os.Root, name string, opts Options) error {
	info, err := lstat(root, name)
	switch {
	case err != nil || !opts.Swap:
		return err
	case info == nil && opts.Old == nil:
		return nil
	case info == nil || opts.Old == nil || info.Size() != int64(len(opts.Old)):
		return ErrChanged
	}
	file, err := root.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	// One byte more than expected shows a file that grew since.
	now, err := io.ReadAll(io.LimitReader(file, info.Size()+1))
	if err != nil {
		return err
	}
	if !bytes.Equal(now, opts.Old) {
		return ErrChanged
	}
	return nil
}

// syncDir makes the rename itself durable. Windows has no such call.
func syncDir(root *os.Root, name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := root.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
