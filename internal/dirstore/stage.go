package dirstore

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/internal/filelock"
	"github.com/cotterpin/cotter/internal/step"
)

// Stage is the staging directory of one process. It must be closed.
type Stage struct {
	dir   string
	steps string
	lock  *filelock.Lock // nil if directories cannot be locked
}

// NewStage creates a staging directory in parent, which must exist, and removes those of
// killed processes. steps is the prefix of the names of its steps; see package step.
func NewStage(parent, steps string) (*Stage, error) {
	for {
		dir := filepath.Join(parent, rand.Text())
		if err := step.Do(steps+".stage.mkdir", func() error { return os.Mkdir(dir, 0o700) }); err != nil {
			return nil, err
		}
		s := &Stage{dir: dir, steps: steps, lock: filelock.Dir(dir)}
		ok, err := s.lock.TryExclusive()
		if errors.Is(err, filelock.ErrUnsupported) {
			s.lock = nil
		}
		if s.lock == nil || ok && s.lock.IsAt(dir) {
			removeAbandoned(parent, dir, steps)
			return s, nil
		}
		// Another process has removed the directory as abandoned before it was locked.
		if err := errors.Join(err, s.lock.Release()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// Dir returns the staging directory, which no other process uses until Close.
func (s *Stage) Dir() string { return s.dir }

// Path returns a new path in the staging directory. It does not exist yet.
func (s *Stage) Path() string { return filepath.Join(s.dir, rand.Text()) }

// Close removes the staging directory. Files that cannot be removed now are removed by
// the next process.
func (s *Stage) Close() error {
	_ = step.Do(s.steps+".stage.remove", func() error { return RemoveAll(s.dir) })
	if s.lock == nil {
		return nil
	}
	return s.lock.Release()
}

// abandonedAfter is the age from which a staging directory that cannot be locked is
// removed. No process is expected to live that long.
const abandonedAfter = 24 * time.Hour

// RemoveAbandoned removes the staging directories of killed processes from parent, without
// making one. Failures are ignored, because these directories are never read.
func RemoveAbandoned(parent, steps string) { removeAbandoned(parent, "", steps) }

func removeAbandoned(parent, own, steps string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range entries {
		name := filepath.Join(parent, entry.Name())
		if name == own {
			continue
		}
		if !entry.IsDir() {
			_ = os.Remove(name)
			continue
		}
		lock := filelock.Dir(name)
		ok, err := lock.TryExclusive()
		if info, infoErr := entry.Info(); errors.Is(err, filelock.ErrUnsupported) && infoErr == nil {
			ok = time.Since(info.ModTime()) > abandonedAfter
		}
		if ok {
			_ = step.Do(steps+".leftover.remove", func() error { return RemoveAll(name) })
			_ = lock.Release()
		}
	}
}

// MakeDir creates a directory for a store. It removes a link or a file of that name.
func MakeDir(name, steps string) error {
	info, err := os.Lstat(name)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	err = step.Do(steps+".dirs.mkdir", func() error { return os.Mkdir(name, 0o700) })
	if errors.Is(err, fs.ErrExist) {
		return nil // another process created it
	}
	return err
}

// RemoveAll is like [os.RemoveAll], but also removes trees whose directories may be read-only.
func RemoveAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(name, 0o700) //nolint:gosec // the directory is about to be removed
		}
		return err
	})
	return os.RemoveAll(dir)
}
