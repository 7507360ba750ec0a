package project

import (
	"bytes"
	"slices"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/step"
)

// undo moves back what a change that is not complete has moved, and removes the
// journal. What was
// done is seen from what is there, so an undo that was interrupted can be done
// again. The manifest is away in the meantime and comes last.
func (p *Project) undo(j *journal) error {
	if err := p.undoLock(j.Lock); err != nil {
		return err
	}
	moves := j.moves()
	for _, m := range slices.Backward(moves) {
		if err := p.back(m); err != nil {
			return err
		}
	}
	if err := p.syncDirs("project.undo", slices.DeleteFunc(j.dirs(), func(dir string) bool { return !p.exists(dir) })...); err != nil {
		return err
	}
	if err := p.back(j.Manifest); err != nil {
		return err
	}
	if err := p.syncDirs("project.undo", "."); err != nil {
		return err
	}
	return p.removeJournal()
}

// back undoes one move as far as it was made.
func (p *Project) back(m move) error {
	if m.From != "" && !p.exists(m.From) && p.exists(m.To) {
		err := step.Do("project.undo.unplace", func() error { return p.modules.Rename(m.To, m.From) })
		if err != nil {
			return err
		}
	}
	if m.Retired == "" || !p.exists(m.Retired) {
		return nil
	}
	return step.Do("project.undo.unretire", func() error { return p.modules.Rename(m.Retired, m.To) })
}

// undoLock gives the dependency lock back the bytes that it had, unless it was
// edited since.
func (p *Project) undoLock(c *lockChange) error {
	if c == nil {
		return nil
	}
	now, err := readOptional(p.dir, c.File, maxLock)
	if err != nil || now == nil || !bytes.Equal(now, c.New) {
		return nil //nolint:nilerr // what cannot be read is not what the change wrote
	}
	if c.Old != nil {
		return atomicfile.Write(p.dir, c.File, c.Old, atomicfile.Options{Swap: true, Old: c.New, Step: "project.undo"})
	}
	err = step.Do("project.undo.remove", func() error { return p.dir.Remove(c.File) })
	if err != nil {
		return err
	}
	return atomicfile.SyncDir(p.dir, ".", "project.undo")
}
