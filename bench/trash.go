package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// workplace is a directory that goes at the end, with all that is in it.
type workplace struct {
	dir     string
	trashed *int
}

func newWorkplace() (workplace, error) {
	dir, err := os.MkdirTemp("", "cotter-bench-")
	if err != nil {
		return workplace{}, err
	}
	return workplace{dir, new(int)}, os.Mkdir(filepath.Join(dir, "trash"), 0o700)
}

func (w workplace) remove() { _ = os.RemoveAll(w.dir) }

// newDir makes a directory in it.
func (w workplace) newDir() (string, error) { return os.MkdirTemp(w.dir, "") }

// discard takes a file or directory away, and gives back what its larger files
// take of the disk. It removes none: for some minutes ext4 looks at every file
// that was removed whenever it makes one, so that a run would take longer the
// more the run before had made.
func (w workplace) discard(name string) error {
	*w.trashed++
	to := filepath.Join(w.dir, "trash", strconv.Itoa(*w.trashed))
	if err := os.Rename(name, to); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	const large = 16 << 10
	return filepath.WalkDir(to, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil || info.Size() <= large {
			return err
		}
		// Git makes read-only files.
		return errors.Join(os.Chmod(path, 0o600), os.Truncate(path, 0))
	})
}
