package dirstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Entry is a published directory.
type Entry struct {
	// Name is its file name.
	Name string
	// Bytes is the sum of the sizes of its files.
	Bytes int64
	// Used is when it was published or last used, to the hour; see [MarkUsed].
	Used time.Time
}

// Entries returns the directories in parent, sorted by name. It returns nil if parent
// does not exist.
func Entries(parent string) ([]Entry, error) {
	found, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	var entries []Entry
	for _, f := range found {
		info, err := f.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			continue // another process removed it, or it was not published here
		}
		if err != nil {
			return nil, err
		}
		bytes, err := Size(filepath.Join(parent, f.Name()))
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{Name: f.Name(), Bytes: bytes, Used: info.ModTime()})
	}
	return entries, err
}

// Size returns the sum of the sizes of the files at and below a path. Files that another
// process removes meanwhile are not counted.
func Size(path string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = entry.Info(); err == nil {
				sum += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return sum, err
}

// UsedResolution is how old the recorded time of use must be to be updated.
const UsedResolution = time.Hour

// MarkUsed records the current time as the time of use of a file or directory, in its
// modification time. A failure is ignored, because the time only matters for cleaning up.
func MarkUsed(path string) {
	now := time.Now()
	if info, err := os.Lstat(path); err == nil && now.Sub(info.ModTime()) > UsedResolution {
		_ = os.Chtimes(path, now, now)
	}
}
