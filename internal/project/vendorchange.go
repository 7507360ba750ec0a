package project

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/pathsafe"
)

type VendorChange struct {
	// Staged lists the keys of the calls whose packages [Project.StageVendored] has staged.
	Staged []string
	// Keep lists the keys of all packages that the directory has afterwards. Others are removed.
	Keep []string
	// Sums are the per-file sums of these packages, by the file names of their t1 hashes.
	Sums map[string][]byte
}

// gitAttributes keeps git from converting line ends, so that the hashes match in every checkout.
const gitAttributes = "# Written by Cotter: line ends stay as they are.\n* -text\n"

// vendorMoves is the change of the directory of vendored packages in the journal. All names are
// relative to it.
type vendorMoves struct {
	moveList
	// Dir is relative to the root module.
	Dir string

	// files are the files that have to be written to the stage, by their names there.
	files map[string][]byte
}

// plan returns nil if nothing changes. It writes nothing.
// The first move replaces the record by one that lists the packages before and after the change, so
// that each package is listed while it is there, even if the journal is lost. A process that is killed
// between the two renames of that move leaves no record: then only the journal brings it back.
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
		moveList: moveList{Stage: v.stage, Retired: v.retired, Inner: vendorSumsName},
		Dir:      v.dir.name, files: make(map[string][]byte),
	}
	during := newVendorRecord(v.dir.root, append(slices.Clone(former.keys), c.Staged...)).text()
	if !bytes.Equal(text, during) {
		m.write("@during", vendorRecordName, during, text != nil)
	}
	v.planSums(m, c.Sums)
	if !v.has(attributesName) {
		m.write("@attributes", attributesName, []byte(gitAttributes), false)
	}
	for _, key := range former.keys {
		if !slices.Contains(c.Keep, key) && !slices.Contains(c.Staged, key) && v.has(key) {
			m.add("", key, true)
		}
	}
	for _, key := range c.Staged {
		m.add(path.Join(m.Stage, key), key, v.has(key))
	}
	if after := newVendorRecord(v.dir.root, c.Keep).text(); !bytes.Equal(during, after) {
		m.write("@after", vendorRecordName, after, true)
	}
	if len(m.Moves) == 0 {
		return nil, nil
	}
	return m, nil
}

func (v *vendorRoot) planSums(m *vendorMoves, sums map[string][]byte) {
	entries, _ := os.ReadDir(filepath.Join(v.dir.path, filepath.FromSlash(vendorSumsName)))
	for _, entry := range entries {
		if _, kept := sums[entry.Name()]; !kept {
			m.add("", path.Join(vendorSumsName, entry.Name()), true)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if old, err := v.dir.Sums(name); err != nil || !bytes.Equal(old, sums[name]) {
			place := path.Join(vendorSumsName, name)
			m.write("@"+name, place, sums[name], v.has(place))
		}
	}
}

func (v *vendorRoot) has(name string) bool {
	return exists(filepath.Join(v.dir.path, filepath.FromSlash(name)))
}

// write adds a move of a file that is to be written to the stage. No key has "@".
func (m *vendorMoves) write(staged, to string, data []byte, replaces bool) {
	m.files[staged] = data
	m.add(path.Join(m.Stage, staged), to, replaces)
}

// check returns an error if two keys differ only in case, because the repository may be checked out on a
// file system that ignores case, or if a package would replace files that are not a vendored package.
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

func (v *vendorRoot) prepare(m *vendorMoves) error {
	if err := v.open(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		err := atomicfile.Step("vendor.staged.write", func() error { return v.root.WriteFile(path.Join(m.Stage, name), m.files[name], 0o644) })
		if err != nil {
			return err
		}
	}
	return m.moveList.prepare(v.root, "vendor")
}

// openVendorOf opens the directory of the moves of a killed process, or returns nil if there are none,
// or if they cannot be undone.
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
	return &vendorRoot{dir: dir, root: root}, nil
}
