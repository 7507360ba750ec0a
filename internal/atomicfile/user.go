package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

var errUserKind = errors.New("it is neither a file nor a pipe")

// ReadUser returns the content of a file in which a user keeps settings or credentials, such as
// ~/.tofurc or ~/.netrc. If the file has more than limit bytes, ReadUser returns an error.
//
// The file need not be a regular file: /dev/null is an empty one, and the shell's process
// substitution or a password manager provides a pipe, which is read until its writers have closed it
// or ctx is done. Directories, sockets and block devices are errors.
//
// Errors are *fs.PathErrors. If ctx ends, they wrap its error.
func ReadUser(ctx context.Context, name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return readAll(name, limit)
	case mode&(fs.ModeNamedPipe|fs.ModeCharDevice) == 0:
		return nil, &fs.PathError{Op: "read", Path: name, Err: errUserKind}
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

// IsAbsent reports whether an error of [ReadUser] means that the file does not exist, that its directory
// is not a directory, or that its directory cannot be searched. An example is a home directory
// that is /dev/null or belongs to another user.
func IsAbsent(err error) bool {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return true
	}
	e, ok := errors.AsType[*fs.PathError](err)
	return ok && e.Op == "stat" && errors.Is(err, fs.ErrPermission)
}
