package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// workplace is a temporary directory that is removed at the end.
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

// newDir creates a directory in the workplace.
func (w workplace) newDir() (string, error) { return os.MkdirTemp(w.dir, "") }

// discard moves a file or directory to the trash, and truncates larger files to free disk
// space. It does nothing if name does not exist.
//
// discard does not remove files. For some minutes after a removal, ext4 looks at every
// removed file whenever it creates one. A run would take longer the more files the previous
// run had created.
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
		// Git creates read-only files.
		return errors.Join(os.Chmod(path, 0o600), os.Truncate(path, 0))
	})
}
