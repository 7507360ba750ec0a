// Package userfile reads files in which users keep settings and credentials, such as ~/.tofurc,
// ~/.netrc and ~/.docker/config.json.
//
// The files need not be regular files: /dev/null is an empty one, and the shell's process
// substitution or a password manager provides a pipe. Pipes are read to their end. Directories,
// sockets and block devices are errors.
package userfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

var errKind = errors.New("it is neither a file nor a pipe")

// Read returns the content of a file. If the file has more than limit bytes, Read returns an
// error. A pipe is read until its writers have closed it or ctx is done.
//
// Errors are *fs.PathErrors. If ctx ends, they wrap its error.
func Read(ctx context.Context, name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return readAll(name, limit)
	case mode&(fs.ModeNamedPipe|fs.ModeCharDevice) == 0:
		return nil, &fs.PathError{Op: "read", Path: name, Err: errKind}
	}
	type content struct {
		src []byte
		err error
	}
	// Opening a pipe waits for a writer and cannot be interrupted, so a separate goroutine opens
	// it. If ctx ends first, the goroutine remains until there is a writer.
	read := make(chan content, 1)
	go func() {
		src, err := readAll(name, limit)
		read <- content{src, err}
	}()
	select {
	case c := <-read:
		return c.src, c.err
	case <-ctx.Done():
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("its writer did not close it: %w", ctx.Err())}
	}
}

func readAll(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(src)) > limit {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("it is larger than %d bytes", limit)}
	}
	return src, err
}

// Absent reports whether an error of Read means that the file does not exist, that its directory
// is not a directory, or that its directory cannot be searched. An example is a home directory
// that is /dev/null or belongs to another user.
func Absent(err error) bool {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return true
	}
	e, ok := errors.AsType[*fs.PathError](err)
	return ok && e.Op == "stat" && errors.Is(err, fs.ErrPermission)
}
