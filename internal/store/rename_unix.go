//go:build unix

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameBetween renames a file or directory of one open directory to a name in another. The names have one component.
func renameBetween(from *os.Root, oldName string, to *os.Root, newName string) error {
	source, err := from.Open(".")
	if err != nil {
		return err
	}
	target, err := to.Open(".")
	if err != nil {
		return errors.Join(err, source.Close())
	}
	err = unix.Renameat(int(source.Fd()), oldName, int(target.Fd()), newName)
	if err != nil {
		err = &os.LinkError{Op: "rename", Old: oldName, New: newName, Err: err}
	}
	return errors.Join(err, source.Close(), target.Close())
}
