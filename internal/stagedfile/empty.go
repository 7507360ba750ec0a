// Package stagedfile is about files that hold what is on its way, and are removed when it
// has arrived.
package stagedfile

import (
	"io"
	"os"
)

// Empty makes a file empty, and goes to its beginning. A file that is empty already is not
// truncated: once a file was truncated to nothing, ext4 begins to write it to the disk when
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
