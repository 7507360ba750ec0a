package project

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
)

// Change is a change of a project. Callers must have verified the packages in it.
type Change struct {
	// Packages maps the key of a call to the staged path, from [Project.Stage],
	// that becomes the key's directory.
	Packages map[string]string
	// Trees maps the name of a shared tree, see [TreeName], to its staged path.
	Trees map[string]string
	// Gone lists the keys of the calls that are removed.
	Gone []string
	// OldLock and NewLock are the bytes of the dependency lock, nil if there is no lock. It is not
	// written if they are equal, or if the project has no lock file.
	OldLock, NewLock []byte
	// Confirmed are the records of the evidence for entries of NewLock, with the times since when
	// there is evidence. Later runs find them by [Project.Confirmed].
	Confirmed map[string]time.Time
	// Marks has, by the keys of calls in NewLock, a text of 64 hexadecimal digits for the source address, which
	// later runs compare by [Project.Mark]. Calls whose address the lock shows in full have none.
	Marks    map[string]string
	Manifest []byte
}

// UndoError says that a change failed and could not be undone. The next [Open] tries again.
type UndoError struct {
	Journal string
	// Undo is the reason why the change, which failed with Err, could not be undone.
	Err, Undo error
}

func (e *UndoError) Error() string {
	return fmt.Sprintf("%s; the change could not be undone (%s): the next run tries again, from %s", e.Err, e.Undo, e.Journal)
}

func (e *UndoError) Unwrap() []error { return []error{e.Err, e.Undo} }

// Commit makes a change. Each step is durable before the next one begins:
//
//  1. The new lock, lock copy and manifest are written to temporary files beside the staged packages.
//     Lack of space or permission shows here.
//  2. The journal is written: the moves, and the old lock.
//  3. modules.json is retired. Stock tools say "Module not installed" until step 7.
//  4. Packages: the old one is retired, the new one moves to its place.
//  5. The lock is replaced, if it still has the bytes that were read.
//  6. The lock copy is replaced.
//  7. The new modules.json moves to its place: the change is complete.
//  8. What was retired and the journal are removed.
//
// After an error nothing has changed, unless it is an *[UndoError]: then the next Open undoes the change.
func (p *Project) Commit(c Change) error {
	if err := p.compareLock(c.OldLock); err != nil {
		return err
	}
	if done, err := p.commitLockCopy(c); done || err != nil {
		return err
	}
	j, lock, err := p.prepare(c)
	if err == nil {
		if err = p.writeJournal(j); err == nil {
			return p.make(j, lock)
		}
		// The journal exists if only the sync of its directory failed.
		err = errors.Join(err, p.modules.RemoveAll(journalName))
	}
	if lock != nil {
		lock.Discard()
	}
	_ = p.modules.RemoveAll(retiredName) // nothing was moved there yet
	return err
}

// commitLockCopy makes a change that needs no journal, of at most the lock copy. It reports false for
// other changes. On a read-only file system the old copy stays: this user, or this path of the project, may have
// no proof of it.
func (p *Project) commitLockCopy(c Change) (bool, error) {
	manifest, err := p.Manifest()
	if len(c.Packages)+len(c.Trees)+len(c.Gone) > 0 || !bytes.Equal(c.OldLock, c.NewLock) || err != nil || !bytes.Equal(manifest, c.Manifest) {
		return false, nil //nolint:nilerr // a manifest that cannot be read is replaced
	}
	if bytes.Equal(p.former, c.NewLock) && p.keepsAll(c.Confirmed, c.Marks) || p.former == nil && c.NewLock == nil {
		return true, nil
	}
	if c.NewLock == nil {
		return false, nil // the copy must be removed
	}
	err = atomicfile.Write(p.modules, lockCopyName, p.sealCopy(c.NewLock, c.Confirmed, c.Marks), atomicfile.Options{Step: "project.copy"})
	if errors.Is(err, syscall.EROFS) {
		// All that the configuration needs is in place. Without the copy, only later runs ask the origins again.
		err = nil
	}
	return true, err
}

// prepare makes step 1 of [Project.Commit] and describes the change in a journal. The pending lock is
// nil if the lock does not change.
func (p *Project) prepare(c Change) (_ *journal, lock *atomicfile.Pending, err error) {
	j := &journal{Stage: p.stage, Retired: path.Join(retiredName, rand.Text())}
	if _, err := p.Stage(); err != nil {
		return nil, nil, err
	}
	if j.Manifest, err = p.stageFile(j, manifestName, c.Manifest); err != nil {
		return nil, nil, err
	}
	j.LockCopy = j.newMove("", lockCopyName, has(p.modules, lockCopyName))
	if c.NewLock != nil {
		if j.LockCopy, err = p.stageFile(j, lockCopyName, p.sealCopy(c.NewLock, c.Confirmed, c.Marks)); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Trees)) {
		place := path.Join(treesName, name)
		j.addMove(p.staged(c.Trees[name]), place, has(p.modules, place))
	}
	for _, key := range slices.Sorted(maps.Keys(c.Packages)) {
		j.addMove(p.staged(c.Packages[key]), key, has(p.modules, key))
	}
	for _, key := range c.Gone {
		j.addMove("", key, has(p.modules, key))
	}
	if err := j.prepareMoves(p.modules); err != nil {
		return nil, nil, err
	}
	if !bytes.Equal(c.OldLock, c.NewLock) && p.lock.root != nil {
		j.Lock = &lockChange{File: p.lock.file, Old: c.OldLock, New: c.NewLock}
		lock, err = atomicfile.Prepare(p.lock.root, p.lock.name, c.NewLock, atomicfile.Options{Swap: true, Old: c.OldLock, Step: "project.lock"})
	}
	return j, lock, err
}

func (p *Project) staged(dir string) string { return path.Join(p.stage, filepath.Base(dir)) }

func (p *Project) stageFile(j *journal, name string, data []byte) (move, error) {
	from := path.Join(p.stage, "@"+path.Base(name))                                                                // no call can have this name
	err := atomicfile.Step("project.staged.write", func() error { return p.modules.WriteFile(from, data, 0o644) }) // syncTree waits for the disk
	return j.newMove(from, name, has(p.modules, name)), err
}

// make makes the moves of a change that is in the journal, or undoes them.
func (p *Project) make(j *journal, lock *atomicfile.Pending) error {
	err := p.moveAll(j, lock)
	if err == nil {
		_ = p.removeJournal() // if it fails, the next Open removes it
		return nil
	}
	if lock != nil {
		lock.Discard()
	}
	if errors.Is(err, atomicfile.ErrChanged) {
		err = ErrLockChanged
	}
	if undoErr := p.undo(j); undoErr != nil {
		p.keepStage() // the next Open moves packages back into it
		return &UndoError{Journal: filepath.Join(p.path, filepath.FromSlash(journalName)), Err: err, Undo: undoErr}
	}
	return err
}

// moveAll makes steps 3 to 7 of [Project.Commit].
func (p *Project) moveAll(j *journal, lock *atomicfile.Pending) error {
	if err := j.Manifest.retire(p.modules, "project.manifest"); err != nil {
		return err
	}
	if err := syncDirs(p.modules, "project.manifest", ".", j.Retired); err != nil {
		return err
	}
	if err := j.makeMoves(p.modules); err != nil {
		return err
	}
	if lock != nil {
		if err := lock.Commit(); err != nil {
			return err
		}
	}
	if err := j.LockCopy.replace(p.modules, "project.copy"); err != nil {
		return err
	}
	if err := syncDirs(p.modules, "project.copy", ownName); err != nil {
		return err
	}
	if err := j.Manifest.install(p.modules, "project.manifest"); err != nil {
		return err
	}
	// If this sync fails, a power cut may revert the rename, and the next Open undoes the change.
	_ = syncDirs(p.modules, "project.complete", ".")
	return nil
}

// compareLock returns [ErrLockChanged] if the lock file no longer has the bytes that were read.
func (p *Project) compareLock(old []byte) error {
	if p.lock.root == nil {
		return nil
	}
	current, err := p.Lock()
	if errors.Is(err, atomicfile.ErrIrregular) {
		current, err = ReadLinkedLock(p.location) // a run that does not write the lock has followed the link
	}
	if err == nil && (!bytes.Equal(current, old) || (current == nil) != (old == nil)) {
		err = ErrLockChanged
	}
	return err
}
