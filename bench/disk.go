package main

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// diskUsage is in bytes, with all files, directories and links below; 0 if the directory does not exist.
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
