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

// ReadUser returns the content of a user's file of settings or credentials, such as ~/.tofurc or ~/.netrc,
// of at most limit bytes. The file may be /dev/null, which is empty, or a pipe (of the shell's process
// substitution, or a password manager), which is read until its writers have closed it or ctx is done.
// Directories, sockets and block devices are errors. Errors are *fs.PathErrors, and wrap that of ctx.
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
	// Opening a pipe waits for a writer and cannot be interrupted. If ctx ends first, the goroutine remains
	// until there is one.
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

// IsAbsent reports whether [ReadUser] found no file, or no directory that can be searched, such as a home
// directory that is /dev/null or belongs to another user.
func IsAbsent(err error) bool {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return true
	}
	e, ok := errors.AsType[*fs.PathError](err)
	return ok && e.Op == "stat" && errors.Is(err, fs.ErrPermission)
}
