package gitexec

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// storeError means that a store cannot be used at its place. The fetch continues with a private
// store.
type storeError struct{ err error }

func (e *storeError) Error() string { return "the git store cannot be used: " + e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }

// unusable wraps an error in a storeError, unless the caller's context ended.
func unusable(err error) error {
	if err == nil || isCancelled(err) {
		return err
	}
	return &storeError{err}
}

var (
	errNotDirectory = errors.New("not a directory")
	errNotFile      = errors.New("a lock is not a regular file")
	errOtherOwner   = errors.New("it belongs to another user")
)

// gitCannotWrite maps git's messages about a store that it cannot write to to the reasons.
var gitCannotWrite = [...]struct{ phrase, reason string }{
	{"no space left on device", "no space left on device"},
	{"disk quota exceeded", "disk quota exceeded"},
	{"read-only file system", "read-only file system"},
	{"insufficient permission for adding an object", "permission denied"},
	{"unable to create temporary file", "permission denied"},
	{"fetch_head': permission denied", "permission denied"},
	{".lock': permission denied", "permission denied"},
}

// cacheTrouble returns the reason why the store cannot be written, in a few words. It returns
// "" if err has another cause.
func cacheTrouble(err error) string {
	if said, ok := errors.AsType[*Error](err); ok {
		for _, w := range gitCannotWrite {
			if said.Says(w.phrase) {
				return w.reason
			}
		}
		return ""
	}
	trouble, ok := errors.AsType[*storeError](err)
	if !ok {
		return ""
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	for _, known := range []error{errNotDirectory, errNotFile, errOtherOwner} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return trouble.err.Error()
}

// storesDir creates the directory that contains the stores. It must be a real directory,
// because a link could point to another user's directories.
func storesDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return checkStoresDir(dir)
}

func checkStoresDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return &fs.PathError{Op: "open", Path: dir, Err: errNotDirectory}
	case ownedByOther(info):
		return &fs.PathError{Op: "open", Path: dir, Err: errOtherOwner}
	}
	return nil
}
