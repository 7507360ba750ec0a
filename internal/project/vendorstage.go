package project

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/pathsafe"
)

type vendorRoot struct {
	dir            *VendorDir
	stage, retired string // the directories of this process, in root

	mu sync.Mutex
	// root is nil until the first package is staged, or the directory is changed.
	root *os.Root
	// made are the directories that this process has created, outermost first.
	made []string
}

// open opens the directory, which it creates, and makes the stage of this process.
func (v *vendorRoot) open() (err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.root != nil {
		return nil
	}
	if _, _, err := v.dir.ownRecord(); err != nil {
		return err
	}
	v.made = pathsafe.MissingDirs(v.dir.path)
	defer func() {
		if err != nil {
			v.clean()
		}
	}()
	err = atomicfile.Step("vendor.dirs.mkdir", func() error { return os.MkdirAll(filepath.Join(v.dir.path, ownName), 0o777) })
	if err != nil {
		return err
	}
	own, err := v.dir.openOwn() // fails if it is a link
	if err != nil {
		return err
	}
	if err := own.Close(); err != nil {
		return err
	}
	if v.root, err = pathsafe.OpenRoot(v.dir.path); err != nil {
		return err
	}
	return atomicfile.Step("vendor.dirs.mkdir", func() error { return v.root.Mkdir(v.stage, 0o777) })
}

// clean is for a change that is complete or undone.
func (v *vendorRoot) clean() {
	v.dir.sweep()
	for _, dir := range slices.Backward(v.made) {
		_ = os.Remove(dir) // fails if it is not empty
	}
}

func (v *vendorRoot) close() error {
	if v == nil || v.root == nil {
		return nil
	}
	if v.stage != "" {
		v.clean()
	}
	return v.root.Close()
}

// sweep removes the stages of all processes, and then a directory that has nothing else. What a change
// has retired is not needed either: the change is complete or undone, or belongs to another data
// directory and can no longer be undone.
func (d *VendorDir) sweep() {
	if _, text, err := d.ownRecord(); err != nil || text == nil && !exists(filepath.Join(d.path, ownName)) {
		return
	}
	own, err := d.openOwn()
	if err != nil {
		return
	}
	defer own.Close()
	entries, _ := fs.ReadDir(own.FS(), ".")
	for _, entry := range entries {
		if isLeftover(path.Join(ownName, entry.Name())) {
			_ = atomicfile.Step("vendor.retired.remove", func() error { return own.RemoveAll(entry.Name()) }) // the next sweep removes it
		}
	}
	if !IsVendorDir(d.path) {
		for _, name := range []string{vendorSumsName, ownName, "."} {
			_ = os.Remove(filepath.Join(d.path, filepath.FromSlash(name))) // fails if it is not empty
		}
	}
}
