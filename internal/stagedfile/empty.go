// Package stagedfile supports files that hold data during a transfer and are removed afterwards.
package stagedfile

import (
	"io"
	"os"
)

// Empty makes a file empty and seeks to its beginning. It does not truncate a file that is
// already empty: if a file was ever truncated to zero, ext4 starts to write it to the disk when
// it is closed, and removing it waits for that.
func Empty(file *os.File) error {
	info, err := file.Stat()
	if err == nil && info.Size() > 0 {
		err = file.Truncate(0)
	}
	if err != nil {
		return err
	}
	_, err = file.Seek(0, io.SeekStart)
	return err
}
