package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
)

// maxJournal is in bytes. The journal has the old and the new lock in base64, and a line for each
// package.
const maxJournal = 2*maxLock + MaxManifest

// journal describes a change in progress, as it is written to disk. All names are relative to the
// modules directory.
type journal struct {
	// Stage is the directory of what is moved to its place, and Retired that of what is replaced.
	Stage, Retired string
	// Moves are those of packages and shared trees.
	Moves    []move
	Manifest move
	LockCopy move
	// Lock is nil if the dependency lock does not change.
	Lock *lockChange

	retired int // the number of names used in Retired
}

type lockChange struct {
	// File is relative to the project directory if it is below it, and otherwise absolute.
	File string
	// nil means that there is no file.
	Old, New []byte
}

// newMove returns a move. If replaces is set, the move retires what is at to first.
func (j *journal) newMove(from, to string, replaces bool) move {
	m := move{From: from, To: to}
	if replaces {
		j.retired++
		m.Retired = path.Join(j.Retired, strconv.Itoa(j.retired))
	}
	return m
}

func (j *journal) addMove(from, to string, replaces bool) {
	j.Moves = append(j.Moves, j.newMove(from, to, replaces))
}

// prepareMoves creates the directories that the moves need, and makes what is staged durable.
func (j *journal) prepareMoves(root *os.Root) error {
	for _, m := range j.Moves { // revert treats a missing staged path as already moved
		if m.From != "" && !has(root, m.From) {
			return &fs.PathError{Op: "install", Path: m.From, Err: fs.ErrNotExist}
		}
	}
	for _, dir := range []string{j.Retired, treesName} {
		if err := atomicfile.Step("project.dirs.mkdir", func() error { return root.MkdirAll(dir, 0o777) }); err != nil {
			return err
		}
		if info, err := root.Lstat(dir); err != nil || !info.IsDir() { // files are moved in it
			return fmt.Errorf("%s is not a directory", filepath.Join(root.Name(), filepath.FromSlash(dir)))
		}
	}
	return atomicfile.Step("project.stage.sync", func() error { return syncTree(root, j.Stage, "project.stage") })
}

func (j *journal) makeMoves(root *os.Root) error {
	for _, m := range j.Moves {
		if err := m.replace(root, "project.package"); err != nil {
			return err
		}
	}
	return syncDirs(root, "project.package", j.dirs()...)
}

// revertMoves undoes the moves as far as they were made, the last one first.
func (j *journal) revertMoves(root *os.Root) error {
	for _, m := range slices.Backward(j.Moves) {
		if err := m.revert(root, "project.undo"); err != nil {
			return err
		}
	}
	return syncDirs(root, "project.undo", slices.DeleteFunc(j.dirs(), func(dir string) bool { return !has(root, dir) })...)
}

func (j *journal) dirs() []string { return []string{".", ownName, treesName, j.Retired} }

// writeJournal writes the journal durably. From then on the change is undone unless it is completed.
func (p *Project) writeJournal(j *journal) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return atomicfile.Write(p.modules, journalName, p.key.Seal(p.purpose("journal"), text), atomicfile.Options{Step: "project.journal"})
}

// removeJournal removes the journal of a change that is complete or undone, and the retired files.
func (p *Project) removeJournal() error {
	err := atomicfile.Step("project.journal.remove", func() error { return p.modules.Remove(journalName) })
	if err != nil {
		return err
	}
	_ = atomicfile.Step("project.retired.remove", func() error { return p.modules.RemoveAll(retiredName) })
	return nil
}

// readJournal returns the journal of a killed process, or nil if there is none with a valid seal.
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
		p.note(UnprovenJournal, journalName)
		return nil
	}
	return j
}

// Unfinished reports whether a killed process left a change that the next [Open] undoes.
func (p *Project) Unfinished() bool {
	j := p.readJournal()
	return j != nil && !p.isComplete(j)
}

func (p *Project) isComplete(j *journal) bool { return !has(p.modules, j.Manifest.From) }

// recover undoes the change of a killed process, or removes its journal if there is nothing to undo.
func (p *Project) recover() error {
	j := p.readJournal()
	if j == nil {
		return p.removeUnproven()
	}
	switch {
	case p.isComplete(j):
		return p.removeJournal()
	case p.isForeign(j):
		p.note(GivenUp, journalName)
		return p.removeJournal()
	}
	if err := p.undo(j); err != nil {
		return err
	}
	p.note(Undone, journalName)
	return nil
}

// removeUnproven removes a journal without a valid seal.
func (p *Project) removeUnproven() error {
	if !has(p.modules, journalName) {
		return nil // removing nothing fails on a read-only file system
	}
	return p.modules.RemoveAll(journalName)
}

// isForeign reports whether another program wrote a manifest after the change had retired the old one.
func (p *Project) isForeign(j *journal) bool {
	retired := j.Manifest.Retired == "" || has(p.modules, j.Manifest.Retired)
	return retired && has(p.modules, j.Manifest.To)
}

// undo reverts the moves of an incomplete change and removes the journal. It derives the moves that
// were made from the files that exist, so it can be repeated. The manifest is moved back last.
func (p *Project) undo(j *journal) error {
	if err := p.undoLock(j.Lock); err != nil {
		return err
	}
	if err := j.LockCopy.revert(p.modules, "project.undo"); err != nil {
		return err
	}
	if err := j.revertMoves(p.modules); err != nil {
		return err
	}
	if err := j.Manifest.revert(p.modules, "project.undo"); err != nil {
		return err
	}
	if err := syncDirs(p.modules, "project.undo", "."); err != nil {
		return err
	}
	return p.removeJournal()
}

// undoLock restores the old bytes of the dependency lock, unless it was edited after the change.
func (p *Project) undoLock(c *lockChange) error {
	if c == nil {
		return nil
	}
	place, err := Location{LockFile: c.File}.openLock(p.dir)
	if err != nil {
		return nil //nolint:nilerr // the directory of the lock is gone, and the lock with it
	}
	defer func() { _ = place.close() }()
	now, err := place.read()
	if err != nil || now == nil || !bytes.Equal(now, c.New) {
		return nil //nolint:nilerr // the change did not write what cannot be read
	}
	if c.Old != nil {
		return atomicfile.Write(place.root, place.name, c.Old, atomicfile.Options{Swap: true, Old: c.New, Step: "project.undo"})
	}
	err = atomicfile.Step("project.undo.remove", func() error { return place.root.Remove(place.name) })
	if err != nil {
		return err
	}
	return atomicfile.SyncDir(place.root, path.Dir(place.name), "project.undo")
}
