package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Entry is a published tree.
type Entry struct {
	// Name is the tree's file name, as [FileName] makes it.
	Name string
	// Bytes is the sum of the sizes of its files.
	Bytes int64
	// Used is when it was last copied out of the store, to the hour, or
	// published.
	Used time.Time
}

// Entries are the published trees, sorted by name.
func (s Store) Entries() ([]Entry, error) {
	dir := filepath.Join(s.Dir, "tree")
	found, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var entries []Entry
	for _, f := range found {
		info, err := f.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			continue // another process was faster; or not ours
		}
		if err != nil {
			return nil, err
		}
		bytes, err := Size(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{Name: f.Name(), Bytes: bytes, Used: info.ModTime()})
	}
	return entries, err
}

// Size is the sum of the sizes of the files at and below a path; what vanishes
// meanwhile does not count.
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

// Check hashes a published tree. One that is not what its name says goes to
// quarantine and is [ErrDamaged].
func (s Store) Check(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := s.read(name)
	return err
}

// Remove removes a published tree: for others at once, whatever happens to this
// process. Who is copying it finds it damaged, and fetches it again.
func (s Store) Remove(name string) error {
	staged, err := s.Stage()
	if err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(s.Dir, "tree", name), staged); err != nil {
		return err
	}
	return os.RemoveAll(staged)
}

// Quarantined is where damaged trees are.
func (s Store) Quarantined() string { return filepath.Join(s.Dir, "quarantine") }

// usedAgain is how old the mark of the last use must be to be worth a write.
const usedAgain = time.Hour

// markUsed notes that a tree was used just now. It does what it can: a cache
// may be read-only.
func markUsed(path string) {
	now := time.Now()
	if info, err := os.Lstat(path); err == nil && now.Sub(info.ModTime()) > usedAgain {
		_ = os.Chtimes(path, now, now)
	}
}
