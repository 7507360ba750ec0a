package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/step"
)

// maxJournal is the maximum size of the journal in bytes. The journal contains the old and the
// new lock in base64 and a line for each package.
const maxJournal = 2*maxLock + maxManifest

// journal describes a change in progress, as it is written to disk.
type journal struct {
	// Retired is the directory, below the modules directory, for replaced files
	// and packages.
	Retired string
	// Manifest and LockCopy are the moves of these two files, and Packages are the moves of
	// directories. All names are relative to the modules directory.
	Manifest move
	LockCopy move
	Packages []move
	// Lock is the change of the dependency lock, or nil if it does not change.
	Lock *lockChange

	retired int // the number of names used in Retired
}

// move renames To to Retired, and then From to To. If From is "", To is only removed.
type move struct {
	From, To string
	// Retired is the new path of the old file or directory, or "" if To does not exist.
	Retired string
}

// lockChange is a replacement of the dependency lock.
type lockChange struct {
	// File is the lock's name, relative to the project directory.
	File string
	// Old and New are the lock before and after the change. nil means that there is no file.
	Old, New []byte
}

// writeJournal writes the journal durably. From then on the change is undone
// unless it is completed.
func (p *Project) writeJournal(j *journal) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return atomicfile.Write(p.modules, journalName, p.key.Seal(p.purpose("journal"), text), atomicfile.Options{Step: "project.journal"})
}

// removeJournal removes the journal of a change that is complete or undone, and
// the retired files.
func (p *Project) removeJournal() error {
	err := step.Do("project.journal.remove", func() error { return p.modules.Remove(journalName) })
	if err != nil {
		return err
	}
	_ = step.Do("project.retired.remove", func() error { return p.modules.RemoveAll(retiredName) })
	return nil
}

// readJournal returns the journal of a killed process, or nil if there is no
// journal with a valid seal.
func (p *Project) readJournal() *journal {
	sealed, err := atomicfile.Read(p.modules, journalName, maxJournal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	j := new(journal)
	if err == nil {
		var text []byte
		if text, err = p.key.Open(p.purpose("journal"), sealed); err == nil {
			err = json.Unmarshal(text, j)
		}
	}
	if err != nil {
		p.find(UnprovenJournal, journalName)
		return nil
	}
	return j
}

// Unfinished reports whether a killed process left a change that is neither
// complete nor undone. [Open] undoes it.
func (p *Project) Unfinished() bool {
	j := p.readJournal()
	return j != nil && !p.isComplete(j)
}

// isComplete reports whether the last move of a change was made.
func (p *Project) isComplete(j *journal) bool { return !p.exists(j.Manifest.From) }

func (p *Project) exists(name string) bool {
	_, err := p.modules.Lstat(name)
	return err == nil
}

// recover undoes the change of a killed process, or removes its journal if there
// is nothing to undo.
func (p *Project) recover() error {
	j := p.readJournal()
	if j == nil {
		return p.modules.RemoveAll(journalName) // its seal is not valid
	}
	switch {
	case p.isComplete(j):
		return p.removeJournal()
	case p.isForeign(j):
		p.find(GivenUp, journalName)
		return p.removeJournal()
	}
	if err := p.undo(j); err != nil {
		return err
	}
	p.find(Undone, journalName)
	return nil
}

// isForeign reports whether another program wrote a manifest after the change had
// retired the old one.
func (p *Project) isForeign(j *journal) bool {
	retired := j.Manifest.Retired == "" || p.exists(j.Manifest.Retired)
	return retired && p.exists(j.Manifest.To)
}

// moves returns the moves of a change in order, except the move of the manifest.
func (j *journal) moves() []move { return append(append([]move{}, j.Packages...), j.LockCopy) }

// dirs returns the directories in which a change renames entries.
func (j *journal) dirs() []string { return []string{".", ownName, treesName, j.Retired} }

// undo reverts the moves of an incomplete change and removes the journal. It
// derives the moves that were made from the files that exist, so an interrupted
// undo can be repeated. The manifest is moved back last.
func (p *Project) undo(j *journal) error {
	if err := p.undoLock(j.Lock); err != nil {
		return err
	}
	moves := j.moves()
	for _, m := range slices.Backward(moves) {
		if err := p.revert(m); err != nil {
			return err
		}
	}
	if err := p.syncDirs("project.undo", slices.DeleteFunc(j.dirs(), func(dir string) bool { return !p.exists(dir) })...); err != nil {
		return err
	}
	if err := p.revert(j.Manifest); err != nil {
		return err
	}
	if err := p.syncDirs("project.undo", "."); err != nil {
		return err
	}
	return p.removeJournal()
}

// revert undoes one move as far as it was made.
func (p *Project) revert(m move) error {
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

// undoLock restores the old bytes of the dependency lock, unless it was edited after the change.
func (p *Project) undoLock(c *lockChange) error {
	if c == nil {
		return nil
	}
	now, err := readOptional(p.dir, c.File, maxLock)
	if err != nil || now == nil || !bytes.Equal(now, c.New) {
		return nil //nolint:nilerr // the change did not write what cannot be read
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
