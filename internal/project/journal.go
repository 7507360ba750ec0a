package project

import (
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/step"
)

// maxJournal bounds the journal, which holds a lock in base64 and a line for
// each package.
const maxJournal = 2*maxLock + maxManifest

// journal is a change that is being made, as it stands on disk.
type journal struct {
	// Retired is the directory, below the modules directory, of what is
	// replaced.
	Retired string
	// Manifest and LockCopy are the moves of these files, Packages those of
	// directories. Names are relative to the modules directory.
	Manifest move
	LockCopy move
	Packages []move
	// Lock is the change of the dependency lock; nil if it stays.
	Lock *lockChange

	retired int // how many names in Retired are taken
}

// move puts what is staged at From in the place To, after what is there has moved
// to Retired. From is "" if the place becomes empty.
type move struct {
	From, To string
	// Retired is where the old file or directory goes; "" if there is none.
	Retired string
}

// lockChange is a replacement of the dependency lock.
type lockChange struct {
	// File is the lock's name, relative to the project directory.
	File string
	// Old is the lock as it was; nil if there was none. New is the lock as it
	// will be.
	Old, New []byte
}

// writeJournal makes the journal durable: from here on the change will be undone
// unless it becomes complete.
func (p *Project) writeJournal(j *journal) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return atomicfile.Write(p.modules, journalName, p.key.Seal(p.purpose("journal"), text), atomicfile.Options{Step: "project.journal"})
}

// removeJournal forgets a change that is complete or undone.
func (p *Project) removeJournal() error {
	err := step.Do("project.journal.remove", func() error { return p.modules.Remove(journalName) })
	if err != nil {
		return err
	}
	_ = step.Do("project.retired.remove", func() error { return p.modules.RemoveAll(retiredName) })
	return nil
}

// readJournal returns the journal that a killed process left; nil if there is
// none that is proven.
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

// Unfinished reports whether a change was begun and is neither complete nor
// undone, which happens when a process was killed. [Open] undoes it.
func (p *Project) Unfinished() bool {
	j := p.readJournal()
	return j != nil && !p.isComplete(j)
}

// isComplete reports whether the last step of a change was done.
func (p *Project) isComplete(j *journal) bool { return !p.exists(j.Manifest.From) }

func (p *Project) exists(name string) bool {
	_, err := p.modules.Lstat(name)
	return err == nil
}

// recover deals with the change of a killed process.
func (p *Project) recover() error {
	j := p.readJournal()
	if j == nil {
		return p.modules.RemoveAll(journalName) // one that is not proven
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

// isForeign reports whether another program has written a manifest while the
// change had taken it away.
func (p *Project) isForeign(j *journal) bool {
	away := j.Manifest.Retired == "" || p.exists(j.Manifest.Retired)
	return away && p.exists(j.Manifest.To)
}

// moves are all moves of a change in order, but for the first half of that of
// the manifest.
func (j *journal) moves() []move { return append(append([]move{}, j.Packages...), j.LockCopy) }

// dirs are the directories in which a change moves things.
func (j *journal) dirs() []string { return []string{".", ownName, treesName, j.Retired} }
