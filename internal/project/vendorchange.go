package project

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/step"
)

// VendorChange is a change of the directory of vendored packages.
type VendorChange struct {
	// Staged lists the keys of the calls whose packages are in the stage, at the paths from
	// [Project.StageVendored].
	Staged []string
	// Keep lists the keys of all packages that the directory has after the change. Other packages
	// that were written to it are removed.
	Keep []string
	// Sums are the per-file sums of these packages, by the file names of their t1 hashes.
	Sums map[string][]byte
}

// gitAttributes keeps git from converting line ends. Without it, line ends differ in some
// checkouts, and the hashes do not match.
const gitAttributes = "# Written by \"cotter vendor\": line ends stay as they are.\n* -text\n"

// vendorRoot is the directory of vendored packages of an open project.
type vendorRoot struct {
	dir *VendorDir

	mu sync.Mutex
	// root is nil until the first package is staged, or the directory is changed.
	root           *os.Root
	stage, retired string // the directories of this process, in root
	// made are the directories that this process has created, outermost first.
	made []string
}

// vendorMoves is the part of a change that is made in the directory of vendored packages, as it
// is in the journal. All names are relative to that directory.
type vendorMoves struct {
	moveList
	// Dir is the directory, relative to the root module.
	Dir string
	// Stage is the stage of the process.
	Stage string
	// Record is the record before the change, or nil if there was none.
	Record []byte
	// Made are the directories that were created for the change, outermost first.
	Made []string

	// files are the staged files, by their names in the stage.
	files map[string][]byte
	// wideRecord lists the packages before and after the change. It is written first, so that
	// each package is listed while it is there, even if the journal is lost.
	wideRecord, newRecord []byte
}

// SetVendorDir sets the directory of the project's vendored packages, and removes the stages that
// killed processes have left there. It must be called before the directory is used.
func (p *Project) SetVendorDir(d *VendorDir) {
	p.vendor = &vendorRoot{dir: d}
	p.vendor.sweep()
}

// StageVendored returns the path to which the package of a call must be written before it is
// vendored. It does not exist yet, but its parent does. If the directory of vendored packages has
// other files, the error is a *[NotOursError].
func (p *Project) StageVendored(key string) (string, error) {
	if err := p.vendor.open(); err != nil {
		return "", err
	}
	return filepath.Join(p.vendor.dir.path, filepath.FromSlash(p.vendor.stage), key), nil
}

// open opens the directory, which it creates, and makes the stage of this process.
func (v *vendorRoot) open() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.root != nil {
		return nil
	}
	if _, _, err := v.dir.ownRecord(); err != nil {
		return err
	}
	var missing []string
	for at := v.dir.path; !exists(at); at = filepath.Dir(at) {
		missing = append(missing, at)
	}
	slices.Reverse(missing)
	for _, dir := range append(missing, filepath.Join(v.dir.path, ownName)) {
		if err := v.mkdir(dir); err != nil {
			v.removeMade()
			return err
		}
	}
	root, err := v.openRoot()
	if err != nil {
		v.removeMade()
		return err
	}
	suffix := rand.Text()
	v.root, v.stage, v.retired = root, vendorStagePrefix+suffix, vendorRetiredPrefix+suffix
	return step.Do("vendor.dirs.mkdir", func() error { return root.Mkdir(v.stage, 0o777) })
}

// openRoot opens the directory if its .cotter is not a link.
func (v *vendorRoot) openRoot() (*os.Root, error) {
	own, err := v.dir.openOwn()
	if err != nil {
		return nil, err
	}
	if err := own.Close(); err != nil {
		return nil, err
	}
	return pathsafe.OpenRoot(v.dir.path)
}

// mkdir creates a directory and remembers that this process has done so.
func (v *vendorRoot) mkdir(dir string) error {
	err := step.Do("vendor.dirs.mkdir", func() error { return os.Mkdir(dir, 0o777) })
	switch {
	case err == nil:
		v.made = append(v.made, dir)
	case errors.Is(err, fs.ErrExist):
		return nil
	}
	return err
}

// removeMade removes the directories that this process has created, unless a record says that
// they are in use.
func (v *vendorRoot) removeMade() {
	if IsVendorDir(v.dir.path) {
		return
	}
	for _, dir := range slices.Backward(v.made) {
		_ = os.Remove(dir) // fails if it is not empty
	}
}

// plan returns the moves that make a change, or nil if it changes nothing. It writes nothing.
func (v *vendorRoot) plan(c *VendorChange) (*vendorMoves, error) {
	if c == nil {
		return nil, nil
	}
	former, text, err := v.dir.ownRecord()
	if err != nil {
		return nil, err
	}
	if err := v.check(c, former); err != nil {
		return nil, err
	}
	m := &vendorMoves{
		Dir:        v.dir.name,
		Record:     text,
		files:      make(map[string][]byte),
		wideRecord: newVendorRecord(v.dir.root, append(slices.Clone(former.keys), c.Staged...)).text(),
		newRecord:  newVendorRecord(v.dir.root, c.Keep).text(),
	}
	sums, _ := os.ReadDir(filepath.Join(v.dir.path, filepath.FromSlash(vendorSumsName)))
	for _, entry := range sums {
		if _, kept := c.Sums[entry.Name()]; !kept {
			m.Moves = append(m.Moves, move{To: path.Join(vendorSumsName, entry.Name())})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Sums)) {
		if old, err := v.dir.Sums(name); err != nil || !bytes.Equal(old, c.Sums[name]) {
			m.files["@"+name] = c.Sums[name] // no call can have this name
			m.Moves = append(m.Moves, move{From: "@" + name, To: path.Join(vendorSumsName, name)})
		}
	}
	if !exists(filepath.Join(v.dir.path, attributesName)) {
		m.files["@"+attributesName] = []byte(gitAttributes)
		m.Moves = append(m.Moves, move{From: "@" + attributesName, To: attributesName})
	}
	for _, key := range former.keys {
		if !slices.Contains(c.Keep, key) && !slices.Contains(c.Staged, key) {
			m.Moves = append(m.Moves, move{To: key})
		}
	}
	for _, key := range c.Staged {
		m.Moves = append(m.Moves, move{From: key, To: key})
	}
	if len(m.Moves) == 0 && bytes.Equal(m.Record, m.newRecord) {
		return nil, nil
	}
	return m, nil
}

// check returns an error if two keys differ only in case, because the repository may be checked
// out on a file system that ignores case. It also returns an error if a staged package would
// replace files that are not a vendored package.
func (v *vendorRoot) check(c *VendorChange, former vendorRecord) error {
	folded := make(map[string]string)
	for _, key := range slices.Sorted(slices.Values(c.Keep)) {
		if other, taken := folded[strings.ToLower(key)]; taken {
			return fmt.Errorf("the packages of %s and %s cannot be in one directory of a repository: some file systems do not tell upper from lower case", other, key)
		}
		folded[strings.ToLower(key)] = key
	}
	for _, key := range c.Staged {
		if exists(v.dir.PackagePath(key)) && !slices.Contains(former.keys, key) {
			return &NotOursError{Dir: v.dir.PackageDir(key)}
		}
	}
	return nil
}

// prepare writes everything that the moves need, durably.
func (v *vendorRoot) prepare(m *vendorMoves) error {
	if err := v.open(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		err := step.Do("vendor.staged.write", func() error { return v.root.WriteFile(path.Join(v.stage, name), m.files[name], 0o644) })
		if err != nil {
			return err
		}
	}
	if err := v.mkdir(filepath.Join(v.dir.path, filepath.FromSlash(vendorSumsName))); err != nil {
		return err
	}
	if err := step.Do("vendor.dirs.mkdir", func() error { return v.root.Mkdir(v.retired, 0o777) }); err != nil {
		return err
	}
	m.Stage, m.Retired = v.stage, v.retired
	planned := m.Moves
	m.Moves = nil
	for _, at := range planned {
		if at.From != "" {
			at.From = path.Join(v.stage, at.From)
			if !has(v.root, at.From) { // undo treats a missing staged path as already moved
				return &fs.PathError{Op: "vendor", Path: at.From, Err: fs.ErrNotExist}
			}
		}
		if at.From != "" || has(v.root, at.To) {
			m.add(v.root, at.From, at.To)
		}
	}
	for _, dir := range v.made {
		rel, err := filepath.Rel(v.dir.path, dir)
		if err != nil {
			return err
		}
		m.Made = append(m.Made, filepath.ToSlash(rel))
	}
	return step.Do("vendor.stage.sync", func() error { return syncTree(v.root, v.stage, "vendor.stage") })
}

// make makes the moves.
func (v *vendorRoot) make(m *vendorMoves) error {
	if err := v.writeRecord(m.wideRecord, "vendor.record"); err != nil {
		return err
	}
	for _, at := range m.Moves {
		if err := at.replace(v.root, "vendor.package"); err != nil {
			return err
		}
	}
	if err := syncDirs(v.root, "vendor.package", m.dirs()...); err != nil {
		return err
	}
	return v.writeRecord(m.newRecord, "vendor.record")
}

// dirs returns the directories in which the moves rename entries.
func (m *vendorMoves) dirs() []string {
	return []string{".", ownName, vendorSumsName, m.Retired}
}

// writeRecord writes a record, unless it is there.
func (v *vendorRoot) writeRecord(text []byte, stepName string) error {
	if now, err := readOptional(v.root, vendorRecordName, maxVendorRecord); err == nil && bytes.Equal(now, text) {
		return nil
	}
	return atomicfile.Write(v.root, vendorRecordName, text, atomicfile.Options{Step: stepName})
}

// undo reverts the moves as far as they were made, and restores the record.
func (v *vendorRoot) undo(m *vendorMoves) error {
	for _, at := range slices.Backward(m.Moves) {
		if err := at.revert(v.root, "vendor.undo"); err != nil {
			return err
		}
	}
	if err := syncDirs(v.root, "vendor.undo", slices.DeleteFunc(m.dirs(), func(dir string) bool { return !has(v.root, dir) })...); err != nil {
		return err
	}
	if m.Record != nil {
		return v.writeRecord(m.Record, "vendor.undo")
	}
	err := step.Do("vendor.undo.remove", func() error { return v.root.Remove(vendorRecordName) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return atomicfile.SyncDir(v.root, ownName, "vendor.undo")
}

// rootOf returns the directory of the moves in a journal. It returns nil if the moves cannot be
// undone: the directory is no longer what it was, or another process or program has removed the
// packages that were retired.
func (p *Project) rootOf(m *vendorMoves) (*vendorRoot, error) {
	if m == nil {
		return nil, nil
	}
	if p.vendor != nil && p.vendor.root != nil { // this process has made the journal
		return p.vendor, nil
	}
	var unusable *VendorDirError
	dir, err := FindVendorDir(p.location.Dir, m.Dir, p.location.DataDir)
	if errors.As(err, &unusable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	root, err := pathsafe.OpenRoot(dir.path)
	if err != nil {
		return nil, nil //nolint:nilerr // it was removed
	}
	if !has(root, m.Retired) {
		return nil, root.Close()
	}
	v := &vendorRoot{dir: dir, root: root, stage: m.Stage, retired: m.Retired}
	for _, name := range m.Made {
		v.made = append(v.made, filepath.Join(dir.path, filepath.FromSlash(name)))
	}
	return v, nil
}

// remove removes the stage and the retired packages of a change that is complete or undone.
func (v *vendorRoot) remove() {
	for _, name := range []string{v.stage, v.retired} {
		_ = step.Do("vendor.retired.remove", func() error { return v.root.RemoveAll(name) }) // sweep removes it later
	}
	v.removeMade()
}

// sweep removes the stages of killed processes, and then a directory that has nothing else. The
// packages that a change has retired are no longer needed either: the change is complete or
// undone, or it belongs to another data directory and can no longer be undone.
func (v *vendorRoot) sweep() {
	if _, text, err := v.dir.ownRecord(); err != nil || text == nil && !exists(filepath.Join(v.dir.path, ownName)) {
		return
	}
	own, err := v.dir.openOwn()
	if err != nil {
		return
	}
	defer own.Close()
	entries, _ := fs.ReadDir(own.FS(), ".")
	for _, entry := range entries {
		if isLeftover(path.Join(ownName, entry.Name())) {
			_ = own.RemoveAll(entry.Name())
		}
	}
	atomicfile.Sweep(own, path.Base(vendorRecordName))
	if !IsVendorDir(v.dir.path) {
		for _, name := range []string{vendorSumsName, ownName, "."} {
			_ = os.Remove(filepath.Join(v.dir.path, filepath.FromSlash(name))) // fails if it is not empty
		}
	}
}

// close removes what this process has staged, and closes the directory.
func (v *vendorRoot) close() error {
	if v == nil || v.root == nil {
		return nil
	}
	if v.stage != "" {
		v.remove()
	}
	return v.root.Close()
}
