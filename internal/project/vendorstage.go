package project

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/pathsafe"
)

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
	for _, dir := range append(pathsafe.MissingDirs(v.dir.path), filepath.Join(v.dir.path, ownName)) {
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
	return atomicfile.Step("vendor.dirs.mkdir", func() error { return root.Mkdir(v.stage, 0o777) })
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
	err := atomicfile.Step("vendor.dirs.mkdir", func() error { return os.Mkdir(dir, 0o777) })
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

// remove removes the stage and the retired packages of a change that is complete or undone.
func (v *vendorRoot) remove() {
	for _, name := range []string{v.stage, v.retired} {
		_ = atomicfile.Step("vendor.retired.remove", func() error { return v.root.RemoveAll(name) }) // sweep removes it later
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
