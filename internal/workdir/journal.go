package workdir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/atomicfile"
)

// Change is what a run decided. Everything that it names was verified before.
type Change struct {
	// Staged maps the key of a call to the path, from [Dir.Stage], that
	// becomes the key's directory.
	Staged map[string]string
	// Gone are the keys whose directories are no longer wanted.
	Gone []string
	// OldLock and NewLock are the bytes of the dependency lock before and
	// after; nil stands for no file. Equal bytes write nothing.
	OldLock, NewLock []byte
	// Manifest is the new content of modules.json.
	Manifest []byte
}

// ErrLockChanged says that somebody wrote the dependency lock while a change
// to it was being made. Nothing was written.
var ErrLockChanged = errors.New("the lock file was changed by another program during this run; run the command again")

// journal is a decided change as it stands on disk.
type journal struct {
	Moves    []move
	Gone     []string
	Lock     *lockWrite `json:",omitempty"`
	LockFile string
	LockCopy []byte
	Manifest []byte
}

// move puts a staged directory, relative to the modules directory, in the
// place of a key's.
type move struct{ Key, From string }

type lockWrite struct{ Old, New []byte }

// Commit makes a change. After an error from it the old state stands, or the
// next Open finishes the change.
func (d *Dir) Commit(c Change) error {
	j := d.journal(c)
	if j.Lock != nil {
		now, err := d.lockBytes(j.LockFile)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, c.OldLock) {
			return ErrLockChanged
		}
	}
	if d.nothingToDo(j) {
		return nil
	}
	for _, m := range j.Moves { // a step takes a stage that is gone for one that was moved
		if _, err := d.root.Lstat(m.From); err != nil {
			return err
		}
	}
	if err := d.decide(j); err != nil {
		return err
	}
	return d.finish(j)
}

func (d *Dir) journal(c Change) journal {
	j := journal{Gone: c.Gone, Manifest: c.Manifest, LockFile: d.files.LockFile, LockCopy: c.NewLock}
	for _, key := range slices.Sorted(maps.Keys(c.Staged)) {
		j.Moves = append(j.Moves, move{Key: key, From: path.Join(d.stage, filepath.Base(c.Staged[key]))})
	}
	if !bytes.Equal(c.OldLock, c.NewLock) {
		j.Lock = &lockWrite{Old: c.OldLock, New: c.NewLock}
	}
	return j
}

// decide writes the journal: from here on the change will be made.
func (d *Dir) decide(j journal) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return atomicfile.Write(d.root, journalName, text, atomicfile.Options{})
}

// nothingToDo spares a run that changed nothing every write.
func (d *Dir) nothingToDo(j journal) bool {
	if len(j.Moves) > 0 || len(j.Gone) > 0 || j.Lock != nil {
		return false
	}
	manifest, err := d.Manifest()
	if err != nil || !bytes.Equal(manifest, j.Manifest) {
		return false
	}
	lockCopy, err := d.LockCopy()
	return (err == nil || errors.Is(err, fs.ErrNotExist)) && bytes.Equal(lockCopy, j.LockCopy)
}

// recover finishes the change that another process decided and did not finish.
func (d *Dir) recover() error {
	text, err := d.root.ReadFile(journalName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var j journal
	if err := json.Unmarshal(text, &j); err != nil {
		return fmt.Errorf("%s is damaged; remove it to give up the change that it describes: %w", path.Join(d.path, journalName), err)
	}
	if err := d.checkJournal(j); err != nil {
		return fmt.Errorf("%s is not of this project's making, or of a run with another lock file; remove it to give up the change that it describes: %w", path.Join(d.path, journalName), err)
	}
	err = d.finish(j)
	if errors.Is(err, ErrLockChanged) {
		// The user's newer lock wins. What the journal placed is compared with
		// that lock by this very run.
		for _, step := range d.ending(j) {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	}
	return err
}

// checkJournal keeps a journal that somebody else put here, in a repository for
// example, from reaching other files than those of a change.
func (d *Dir) checkJournal(j journal) error {
	if j.LockFile != d.files.LockFile {
		return fmt.Errorf("its lock file is %q, and this run's is %q", j.LockFile, d.files.LockFile)
	}
	keys := slices.Clone(j.Gone)
	for _, m := range j.Moves {
		keys = append(keys, m.Key)
		if !strings.HasPrefix(path.Clean(m.From), stageName+"/") {
			return fmt.Errorf("it moves %q", m.From)
		}
	}
	for _, key := range keys {
		if !filepath.IsLocal(key) || strings.ContainsAny(key, `/\`) || key == "." || key == ownName || key == manifestName {
			return fmt.Errorf("it replaces %q", key)
		}
	}
	return nil
}

// finish makes a decided change.
func (d *Dir) finish(j journal) error {
	for _, step := range d.steps(j) {
		if err := step(); err != nil {
			return err
		}
	}
	// What is in the trash is of no use to anybody; the next Open tries again.
	_ = d.root.RemoveAll(trashName)
	return nil
}

// steps are the steps of a decided change, each of which may have been done
// before. The last but one writes the manifest, which shows the change to
// everybody; the last forgets the journal.
func (d *Dir) steps(j journal) []func() error {
	var steps []func() error
	for _, m := range j.Moves {
		steps = append(steps, func() error { return d.replace(m) })
	}
	for _, key := range j.Gone {
		steps = append(steps, func() error { return d.discard(key) })
	}
	if j.Lock != nil {
		steps = append(steps, func() error { return d.writeLock(j) })
	}
	return append(steps, d.ending(j)...)
}

// ending are the steps that a change ends with, whatever became of the lock.
func (d *Dir) ending(j journal) []func() error {
	return []func() error{
		func() error {
			if j.LockCopy == nil {
				return nil
			}
			return atomicfile.Write(d.root, lockCopyName, j.LockCopy, atomicfile.Options{})
		},
		func() error { return atomicfile.Write(d.root, manifestName, j.Manifest, atomicfile.Options{}) },
		func() error { return d.root.Remove(journalName) },
	}
}

func (d *Dir) writeLock(j journal) error {
	now, err := d.lockBytes(j.LockFile)
	if err != nil {
		return err
	}
	if bytes.Equal(now, j.Lock.New) {
		return nil // done by the process that crashed
	}
	err = atomicfile.Write(d.files.Project, j.LockFile, j.Lock.New, atomicfile.Options{Swap: true, Old: j.Lock.Old})
	if errors.Is(err, atomicfile.ErrChanged) {
		return ErrLockChanged
	}
	return err
}

func (d *Dir) lockBytes(name string) ([]byte, error) {
	src, err := d.files.Project.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return src, err
}

// replace renames a staged directory into a key's place. A directory is never
// renamed over another one: that fails on every system but for empty ones.
func (d *Dir) replace(m move) error {
	if _, err := d.root.Lstat(m.From); errors.Is(err, fs.ErrNotExist) {
		return nil // done by the process that crashed
	}
	if err := d.discard(m.Key); err != nil {
		return err
	}
	return d.root.Rename(m.From, m.Key)
}

// discard moves a key's directory out of the way; a link is moved, not what it
// leads to.
func (d *Dir) discard(key string) error {
	if _, err := d.root.Lstat(key); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := d.root.MkdirAll(trashName, 0o700); err != nil {
		return err
	}
	return d.root.Rename(key, path.Join(trashName, randomName()))
}
