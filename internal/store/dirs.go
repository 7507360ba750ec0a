package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
)

type Entry struct {
	Name  string
	Bytes int64
	// Used is to the hour; see markUsed.
	Used time.Time
}

// entriesOf returns the directories in parent, sorted by name; nil if it does not exist.
func entriesOf(parent string) ([]Entry, error) {
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

// Size sums up the files at and below a path, but not those that vanish meanwhile.
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

// usedResolution is the age of a time of use that is updated.
const usedResolution = time.Hour

// markUsed sets the modification time. A failure is ignored: the time only matters for cleaning up.
func markUsed(path string) {
	now := time.Now()
	if info, err := os.Lstat(path); err == nil && now.Sub(info.ModTime()) > usedResolution {
		_ = os.Chtimes(path, now, now)
	}
}

// makeDir removes a link or a file of that name.
func makeDir(name, steps string) error {
	info, err := os.Lstat(name)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	err = atomicfile.Step(steps+".dirs.mkdir", func() error { return os.Mkdir(name, 0o700) })
	if errors.Is(err, fs.ErrExist) {
		return nil // another process created it
	}
	return err
}

// makeReadOnly makes files read-only, and directories writable for this user.
func makeReadOnly(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm()
		switch {
		case d.IsDir():
			mode |= 0o700
		case d.Type().IsRegular():
			mode &^= 0o222
		}
		if mode == info.Mode().Perm() || d.Type()&fs.ModeSymlink != 0 {
			return nil
		}
		return os.Chmod(name, mode)
	})
}
