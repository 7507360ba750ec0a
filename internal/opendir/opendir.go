// Package opendir opens directories at places where anything may be: named pipes,
// for example, at which an ordinary open waits for ever.
package opendir

import (
	"io/fs"
	"os"
	"syscall"
)

// Root is [os.OpenRoot] for a name that may belong to something else than a
// directory, which is an *fs.PathError over syscall.ENOTDIR. Links are followed.
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
