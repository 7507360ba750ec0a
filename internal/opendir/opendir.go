// Package opendir opens directories in places that may contain anything, such as a named pipe,
// for which an ordinary open waits forever.
package opendir

import (
	"io/fs"
	"os"
	"syscall"
)

// Root is like [os.OpenRoot] for a name that may not be a directory. If it is not, the error is
// an *fs.PathError that wraps syscall.ENOTDIR. Root follows links.
func Root(name string) (*os.Root, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	return os.OpenRoot(name)
}
