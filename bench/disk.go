package main

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// diskUsage is what a directory takes on the disk, with all below it: files,
// directories and links. What is not there takes nothing.
func diskUsage(dir string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sum += allocated(info)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return sum, err
}
