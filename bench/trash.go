package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// workplace is removed at the end.
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

func (w workplace) newDir() (string, error) { return os.MkdirTemp(w.dir, "") }

// discard moves a file or directory, if it exists, to the trash, and truncates large files. It removes
// nothing, because ext4 looks at every file removed in the last minutes when it creates one, so a run would
// take longer the more files the previous one had created.
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
