package store

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/filelock"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// stage is a directory for files on their way. Its parent is opened once: what another process puts at its path does not
// matter.
type stage struct {
	parent, root *os.Root
	name         string // in parent
	dir          string // the path
	steps        string
	lock         *filelock.Lock // nil if directories cannot be locked
}

var errReplacedStage = errors.New("another program replaces the directory")

// openStage is [newStage] for the path of a parent.
func openStage(path, steps string) (*stage, error) {
	parent, err := pathsafe.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return newStage(parent, path, steps)
}

// newStage creates a staging directory in parent, which has a path, and removes those of killed processes. parent is
// closed with the stage, or after an error. steps is a prefix; see atomicfile.Step.
func newStage(parent *os.Root, path, steps string) (*stage, error) {
	s, err := lockedStage(parent, path, steps)
	if err != nil {
		return nil, errors.Join(err, parent.Close())
	}
	if s.root, err = pathsafe.OpenDir(parent, path, s.name); err != nil {
		return nil, errors.Join(err, s.close())
	}
	removeAbandoned(parent, path, s.name, steps)
	return s, nil
}

func lockedStage(parent *os.Root, path, steps string) (*stage, error) {
	for range publishAttempts {
		name := rand.Text()
		if err := atomicfile.Step(steps+".stage.mkdir", func() error { return parent.Mkdir(name, 0o700) }); err != nil {
			return nil, pathsafe.InRoot(parent, err)
		}
		dir := filepath.Join(path, name)
		s := &stage{parent: parent, name: name, dir: dir, steps: steps, lock: filelock.Dir(dir)}
		ok, err := s.lock.TryExclusive()
		if errors.Is(err, filelock.ErrUnsupported) {
			s.lock = nil
		}
		if s.lock == nil || ok && s.lock.IsIn(parent, name) {
			return s, nil
		}
		// Another process has taken it for abandoned before it was locked, or has replaced the parent.
		if err := errors.Join(err, s.lock.Release()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		_ = parent.Remove(name)
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: errReplacedStage}
}

func (s *stage) newPath() string { return filepath.Join(s.dir, rand.Text()) }

func (s *stage) close() error {
	var err error
	if s.root != nil {
		err = s.root.Close()
	}
	_ = atomicfile.Step(s.steps+".stage.remove", func() error { return atomicfile.RemoveAllIn(s.parent, s.name) })
	if s.lock != nil {
		err = errors.Join(err, s.lock.Release())
	}
	return errors.Join(err, s.parent.Close())
}

// abandonedAfter is for directories that cannot be locked. No process is expected to live that long.
const abandonedAfter = 24 * time.Hour

// removeAbandoned removes all but own from parent, which has a path: staging directories of killed processes, and files.
// Failures are ignored, because these are never read.
func removeAbandoned(parent *os.Root, path, own, steps string) {
	entries, err := fs.ReadDir(parent.FS(), ".")
	if err != nil {
		return
	}
	for _, entry := range entries {
		name := entry.Name()
		if name == own {
			continue
		}
		if !entry.IsDir() {
			_ = parent.Remove(name)
			continue
		}
		lock := filelock.Dir(filepath.Join(path, name))
		ok, err := lock.TryExclusive()
		if info, infoErr := entry.Info(); errors.Is(err, filelock.ErrUnsupported) && infoErr == nil {
			ok = time.Since(info.ModTime()) > abandonedAfter
		}
		if ok && err == nil {
			ok = lock.IsIn(parent, name)
		}
		if ok {
			_ = atomicfile.Step(steps+".leftover.remove", func() error { return atomicfile.RemoveAllIn(parent, name) })
			_ = lock.Release()
		}
	}
}
