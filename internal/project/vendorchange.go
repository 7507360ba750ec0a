package project

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/pathsafe"
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
const gitAttributes = "# Written by Cotter: line ends stay as they are.\n* -text\n"

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

	plan *vendorPlan // not in the journal
}

// vendorPlan is a planned change of the directory of vendored packages.
type vendorPlan struct {
	// moves are to be made. Sources are names in the stage.
	moves []move
	// files are the files that have to be written to the stage, by their names there.
	files map[string][]byte
	// oldRecord and newRecord are the record before and after the change. wideRecord lists the
	// packages of both. It is written first, so that each package is listed while it is there,
	// even if the journal is lost.
	oldRecord, wideRecord, newRecord []byte
}

// plan plans a change. It returns nil if nothing changes. It writes nothing.
func (v *vendorRoot) plan(c *VendorChange) (*vendorPlan, error) {
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
	plan := &vendorPlan{
		files:      make(map[string][]byte),
		oldRecord:  text,
		wideRecord: newVendorRecord(v.dir.root, append(slices.Clone(former.keys), c.Staged...)).text(),
		newRecord:  newVendorRecord(v.dir.root, c.Keep).text(),
	}
	v.planSums(plan, c.Sums)
	if !exists(filepath.Join(v.dir.path, attributesName)) {
		plan.write(attributesName, []byte(gitAttributes))
	}
	for _, key := range former.keys {
		if !slices.Contains(c.Keep, key) && !slices.Contains(c.Staged, key) {
			plan.moves = append(plan.moves, move{To: key})
		}
	}
	for _, key := range c.Staged {
		plan.moves = append(plan.moves, move{From: key, To: key})
	}
	if len(plan.moves) == 0 && bytes.Equal(plan.oldRecord, plan.newRecord) {
		return nil, nil
	}
	return plan, nil
}

func (v *vendorRoot) planSums(plan *vendorPlan, sums map[string][]byte) {
	entries, _ := os.ReadDir(filepath.Join(v.dir.path, filepath.FromSlash(vendorSumsName)))
	for _, entry := range entries {
		if _, kept := sums[entry.Name()]; !kept {
			plan.moves = append(plan.moves, move{To: path.Join(vendorSumsName, entry.Name())})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if old, err := v.dir.Sums(name); err != nil || !bytes.Equal(old, sums[name]) {
			plan.write(path.Join(vendorSumsName, name), sums[name])
		}
	}
}

func (p *vendorPlan) write(name string, data []byte) {
	staged := "@" + path.Base(name) // no call can have this name
	p.files[staged] = data
	p.moves = append(p.moves, move{From: staged, To: name})
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

// prepare writes everything that a planned change needs, durably, and returns its moves.
func (v *vendorRoot) prepare(plan *vendorPlan) (*vendorMoves, error) {
	if err := v.open(); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(plan.files)) {
		err := atomicfile.Step("vendor.staged.write", func() error { return v.root.WriteFile(path.Join(v.stage, name), plan.files[name], 0o644) })
		if err != nil {
			return nil, err
		}
	}
	sums := filepath.Join(v.dir.path, filepath.FromSlash(vendorSumsName))
	if err := v.mkdir(sums); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(sums); err != nil || !info.IsDir() { // files are moved in it
		return nil, fmt.Errorf("%s is not a directory", sums)
	}
	if err := atomicfile.Step("vendor.dirs.mkdir", func() error { return v.root.Mkdir(v.retired, 0o777) }); err != nil {
		return nil, err
	}
	m := &vendorMoves{moveList: moveList{Retired: v.retired}, Dir: v.dir.name, Stage: v.stage, Record: plan.oldRecord, plan: plan}
	for _, planned := range plan.moves {
		switch from := path.Join(v.stage, planned.From); {
		case planned.From == "" && !has(v.root, planned.To): // it is gone already
		case planned.From == "":
			m.add(v.root, "", planned.To)
		case !has(v.root, from): // undo treats a missing staged path as already moved
			return nil, &fs.PathError{Op: "vendor", Path: from, Err: fs.ErrNotExist}
		default:
			m.add(v.root, from, planned.To)
		}
	}
	for _, dir := range v.made {
		rel, err := filepath.Rel(v.dir.path, dir)
		if err != nil {
			return nil, err
		}
		m.Made = append(m.Made, filepath.ToSlash(rel))
	}
	return m, atomicfile.Step("vendor.stage.sync", func() error { return syncTree(v.root, v.stage, "vendor.stage") })
}

func (v *vendorRoot) make(m *vendorMoves) error {
	if err := v.writeRecord(m.plan.wideRecord, "vendor.record"); err != nil {
		return err
	}
	if err := m.moveList.make(v.root, "vendor.package", m.dirs()); err != nil {
		return err
	}
	return v.writeRecord(m.plan.newRecord, "vendor.record")
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
	if err := revertMoves(v.root, "vendor.undo", m.Moves, m.dirs()); err != nil {
		return err
	}
	if m.Record != nil {
		return v.writeRecord(m.Record, "vendor.undo")
	}
	err := atomicfile.Step("vendor.undo.remove", func() error { return v.root.Remove(vendorRecordName) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return atomicfile.SyncDir(v.root, ownName, "vendor.undo")
}

// openVendorOf opens the directory of the moves of a killed process. It returns nil if there are
// none, or if they cannot be undone: the directory is no longer what it was, or another process or
// program has removed the packages that were retired.
func openVendorOf(l Location, m *vendorMoves) (*vendorRoot, error) {
	if m == nil {
		return nil, nil
	}
	var unusable *VendorDirError
	dir, err := FindVendorDir(l.Dir, m.Dir, l.DataDir)
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
