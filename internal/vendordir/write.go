package vendordir

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/opendir"
	"github.com/cotterpin/cotter/internal/step"
)

// Change is a change of the directory by one process. The caller must make sure that no other
// process changes the directory at the same time.
type Change struct {
	dir     *Dir
	own     *os.Root
	stage   string // path
	retired string // path
	former  record
	created bool     // the directory had no record before
	moves   []rename // the moves that have been made
	done    bool
}

type rename struct{ from, to string }

// gitAttributes keeps git from converting line ends, which would change the hashes.
const gitAttributes = "# Written by \"cotter vendor\": line ends stay as they are.\n* -text\n"

// Begin prepares to write packages and removes the staged files of killed processes. The caller
// must call [Change.Close]. If the directory has other files, the error is a *[NotOursError].
func (d *Dir) Begin() (_ *Change, err error) {
	c := &Change{dir: d}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if c.former, err = d.own(); err != nil {
		return nil, err
	}
	c.created = !IsDir(d.path)
	if err := os.MkdirAll(d.path, 0o777); err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(d.path, ownName), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if c.own, err = d.openOwn(); err != nil {
		return nil, err
	}
	if err := c.writeRecord(c.former.keys); err != nil {
		return nil, err
	}
	c.sweep()
	suffix := rand.Text()
	c.stage = filepath.Join(d.path, ownName, stagePrefix+suffix)
	c.retired = filepath.Join(d.path, ownName, retiredPrefix+suffix)
	return c, c.own.Mkdir(stagePrefix+suffix, 0o777)
}

// Stage returns the path to which the package of a call must be written. It does not exist yet.
func (c *Change) Stage(key string) string { return filepath.Join(c.stage, key) }

// Commit moves the staged packages of some calls into the directory and removes the packages that
// are not in keep. sums are the per-file sums of all packages, keyed by the file names of their
// t1 hashes. After an error the packages are unchanged.
func (c *Change) Commit(staged, keep []string, sums map[string][]byte) error {
	if err := c.check(staged, keep); err != nil {
		return err
	}
	if err := c.writeRecord(append(slices.Clone(c.former.keys), staged...)); err != nil {
		return err
	}
	if err := c.writeSums(sums); err != nil {
		return err
	}
	if err := os.Mkdir(c.retired, 0o777); err != nil {
		return err
	}
	if err := c.moveAll(staged, keep); err != nil {
		return errors.Join(err, c.Undo())
	}
	if err := c.writeRecord(keep); err != nil {
		return errors.Join(err, c.Undo())
	}
	c.done = true
	c.writeAttributes()
	c.keepSums(sums)
	return nil
}

// check returns an error if two keys differ only in case, because the repository may be checked
// out on a file system that ignores case. It also returns an error if a staged package would
// replace files that are not a vendored package.
func (c *Change) check(staged, keep []string) error {
	folded := make(map[string]string)
	for _, key := range slices.Sorted(slices.Values(keep)) {
		if other, taken := folded[strings.ToLower(key)]; taken {
			return fmt.Errorf("the packages of %s and %s cannot be in one directory of a repository: some file systems do not tell upper from lower case", other, key)
		}
		folded[strings.ToLower(key)] = key
	}
	for _, key := range staged {
		if _, err := os.Lstat(c.dir.PackagePath(key)); err == nil && !slices.Contains(c.former.keys, key) {
			return &NotOursError{Dir: c.dir.PackageDir(key)}
		}
	}
	return nil
}

// moveAll replaces the packages that are staged and retires those that are not kept.
func (c *Change) moveAll(staged, keep []string) error {
	for _, key := range c.former.keys {
		if !slices.Contains(keep, key) || slices.Contains(staged, key) {
			if err := c.move(c.dir.PackagePath(key), filepath.Join(c.retired, key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	for _, key := range staged {
		if err := c.move(c.Stage(key), c.dir.PackagePath(key)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Change) move(from, to string) error {
	err := step.Do("vendor.package.move", func() error { return os.Rename(from, to) })
	if err == nil {
		c.moves = append(c.moves, rename{from, to})
	}
	return err
}

// Undo reverses the moves of Commit.
func (c *Change) Undo() error {
	var errs error
	for _, m := range slices.Backward(c.moves) {
		errs = errors.Join(errs, os.Rename(m.to, m.from))
	}
	c.moves, c.done = nil, false
	return errors.Join(errs, c.writeRecord(c.former.keys))
}

// Close removes the stage and the replaced packages. If the change was not made, Close also
// removes the files and directories that Begin created.
func (c *Change) Close() {
	if c.own == nil {
		return
	}
	c.sweep()
	_ = c.own.Close()
	if !c.done && c.created {
		for _, name := range []string{recordName, ownName + "/" + sumsName, ownName, "."} {
			_ = os.Remove(filepath.Join(c.dir.path, filepath.FromSlash(name))) // fails if it is not empty
		}
	}
}

// sweep removes the stages and retired packages of this process and of killed ones.
func (c *Change) sweep() {
	entries, _ := fs.ReadDir(c.own.FS(), ".")
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), stagePrefix) || strings.HasPrefix(entry.Name(), retiredPrefix) {
			_ = c.own.RemoveAll(entry.Name())
		}
	}
	atomicfile.Sweep(c.own, recordFile)
}

func (c *Change) writeRecord(keys []string) error {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	return atomicfile.Write(c.own, recordFile, record{root: c.dir.root, keys: keys}.text(), atomicfile.Options{Step: "vendor.record"})
}

// writeSums writes the sums that do not exist yet.
func (c *Change) writeSums(sums map[string][]byte) error {
	if err := c.own.Mkdir(sumsName, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		file := sumsName + "/" + name
		if has, err := atomicfile.Read(c.own, file, maxSums); err == nil && bytes.Equal(has, sums[name]) {
			continue
		}
		if err := atomicfile.Write(c.own, file, sums[name], atomicfile.Options{Step: "vendor.sums"}); err != nil {
			return err
		}
	}
	return nil
}

// keepSums removes the sums of packages that are no longer in the directory.
func (c *Change) keepSums(sums map[string][]byte) {
	entries, _ := fs.ReadDir(c.own.FS(), sumsName)
	for _, entry := range entries {
		if _, kept := sums[entry.Name()]; !kept {
			_ = c.own.RemoveAll(sumsName + "/" + entry.Name())
		}
	}
}

// writeAttributes writes .gitattributes if it does not exist. Without it, line ends differ in
// some checkouts, and the hashes do not match.
func (c *Change) writeAttributes() {
	const name = ".gitattributes"
	root, err := opendir.Root(c.dir.path)
	if err != nil {
		return
	}
	defer root.Close()
	if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		_ = root.WriteFile(name, []byte(gitAttributes), 0o644)
	}
}

// Removed returns the packages that were written to the directory and are not in keep.
func (d *Dir) Removed(keep []string) ([]string, error) {
	r, err := d.readRecord()
	if errors.Is(err, fs.ErrNotExist) || err == nil && r.root != d.root {
		return nil, nil // Begin reports a foreign directory if a change is needed
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(r.keys, func(key string) bool { return slices.Contains(keep, key) }), nil
}
