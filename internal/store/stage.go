package store

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/filelock"
)

type stage struct {
	dir   string
	steps string
	lock  *filelock.Lock // nil if directories cannot be locked
}

// newStage creates a staging directory in parent, and removes those of killed processes. steps is a prefix;
// see atomicfile.Step.
func newStage(parent, steps string) (*stage, error) {
	for {
		dir := filepath.Join(parent, rand.Text())
		if err := atomicfile.Step(steps+".stage.mkdir", func() error { return os.Mkdir(dir, 0o700) }); err != nil {
			return nil, err
		}
		s := &stage{dir: dir, steps: steps, lock: filelock.Dir(dir)}
		ok, err := s.lock.TryExclusive()
		if errors.Is(err, filelock.ErrUnsupported) {
			s.lock = nil
		}
		if s.lock == nil || ok && s.lock.IsAt(dir) {
			removeAbandoned(parent, dir, steps)
			return s, nil
		}
		// Another process has taken it for abandoned before it was locked.
		if err := errors.Join(err, s.lock.Release()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

func (s *stage) newPath() string { return filepath.Join(s.dir, rand.Text()) }

func (s *stage) close() error {
	_ = atomicfile.Step(s.steps+".stage.remove", func() error { return atomicfile.RemoveAll(s.dir) })
	if s.lock == nil {
		return nil
	}
	return s.lock.Release()
}

// abandonedAfter is for directories that cannot be locked. No process is expected to live that long.
const abandonedAfter = 24 * time.Hour

// removeAbandoned removes all but own from parent: staging directories of killed processes, and files.
// Failures are ignored, because these are never read.
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
			_ = atomicfile.Step(steps+".leftover.remove", func() error { return atomicfile.RemoveAll(name) })
			_ = lock.Release()
		}
	}
}
