package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/disk/providerzip"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
)

// Layout is how a package is installed in a project.
type Layout int

const (
	// LayoutLink makes a symbolic link into the store, or a copy if links are not possible, the package is
	// not in the store, or another user can change it there.
	LayoutLink Layout = iota
	LayoutCopy
	// LayoutOwn copies packages of the store, for projects whose stock tool writes to installed packages,
	// and for those that are carried to other machines. Others are as by LayoutLink: a stock tool links to
	// mirrors of unpacked packages itself.
	LayoutOwn
)

func (l Layout) links(from location) bool {
	switch from {
	case stored:
		return l == LayoutLink
	case outside:
		return l != LayoutCopy
	}
	return false
}

// Install installs a package at a path, and reports whether it has replaced something there or above. Stock
// tools see the previous entry, nothing, or the whole package. A package that is there stays: with
// LayoutLink also a copy, or a link to a directory with the same content, and with LayoutOwn a link to
// outside of the store. The error is a [*PathError] if the system cannot have the path.
func (d *ProviderDir) Install(ctx context.Context, pkg *ProviderPackage, at string, layout Layout) (replaced bool, err error) {
	if err := d.checkPath(at); err != nil {
		return false, err
	}
	parent, replaced, err := d.makeParents(path.Dir(at))
	if err != nil {
		return false, err
	}
	defer parent.Close()
	info, err := parent.Lstat(path.Base(at))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if info != nil {
		if d.has(ctx, pkg, at, info, layout) {
			return false, nil
		}
		replaced = true
	}
	made, err := d.prepare(ctx, pkg, layout)
	if err != nil {
		return false, err
	}
	if err := d.replace(pkg, made, parent, at, info); err != nil {
		return replaced, err
	}
	return replaced, d.checkParents(path.Dir(at)) // another process may have moved the parent
}

// PathError is about a path of a provider that the system cannot have.
type PathError struct {
	// Component is the part of the path with the reason.
	Component string
	// Reason is that of [pathsafe.Unportable].
	Reason string
}

func (e *PathError) Error() string {
	return fmt.Sprintf("it cannot be installed on this system: tofu and terraform look for it in a directory whose name %q %s", e.Component, e.Reason)
}

func (d *ProviderDir) checkPath(at string) error {
	if !d.store.windows {
		return nil
	}
	for component := range strings.SplitSeq(at, "/") {
		if reason := pathsafe.Unportable(component); reason != "" {
			return &PathError{Component: component, Reason: reason}
		}
	}
	return nil
}

// makeParents opens the parents of a package, one after the other, and creates those that are missing. It replaces files,
// and also links, because Terraform does not follow links there.
func (d *ProviderDir) makeParents(dir string) (parent *os.Root, replaced bool, err error) {
	parent, err = pathsafe.OpenBelow(d.root, d.path, strings.Split(dir, "/"), func(root *os.Root, dir, name string) error {
		info, err := root.Lstat(name)
		if err == nil && info.IsDir() {
			return nil
		}
		if err == nil {
			replaced = true
			err = atomicfile.Step("provider.parent.remove", func() error { return root.Remove(name) })
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		err = atomicfile.Step("provider.parent.mkdir", func() error { return root.Mkdir(name, 0o755) })
		switch {
		case err == nil:
			d.mu.Lock()
			d.made = append(d.made, filepath.Join(dir, name))
			d.mu.Unlock()
		case !errors.Is(err, fs.ErrExist):
			return err
		}
		return nil
	})
	return parent, replaced, err
}

func (d *ProviderDir) has(ctx context.Context, pkg *ProviderPackage, at string, info fs.FileInfo, layout Layout) bool {
	isLink := info.Mode().Type() == fs.ModeSymlink
	if isLink && layout == LayoutCopy {
		return false
	}
	if target, err := d.root.Readlink(filepath.FromSlash(at)); err == nil && target == pkg.dir {
		return pkg.location == private || layout.links(pkg.location)
	}
	state := d.Inspect(ctx, at, false)
	if (layout == LayoutOwn || pkg.location == shared) && (state.Stored || hashOf(filepath.Base(state.Target)) != "") {
		return false // the link is to this store, or to that of another cache
	}
	return state.Err == nil && state.H1 == pkg.H1
}

// prepare returns what is installed, on the stage.
func (d *ProviderDir) prepare(ctx context.Context, pkg *ProviderPackage, layout Layout) (made staged, err error) {
	stage, err := d.stageDir()
	if err != nil {
		return staged{}, err
	}
	name := rand.Text()
	made = staged{stage.root, name}
	if layout.links(pkg.location) && runtime.GOOS != "windows" &&
		atomicfile.Step("provider.place.link", func() error { return stage.root.Symlink(pkg.dir, name) }) == nil {
		return made, nil
	}
	return made, atomicfile.Step("provider.place.copy", func() error { return copyPackage(ctx, pkg, stage.root, name) })
}

// stageDir is on the file system of the installed packages.
func (d *ProviderDir) stageDir() (*stage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	for attempt := 0; d.stage == nil && attempt < publishAttempts; attempt++ {
		if err = d.makeOwn(); err == nil {
			d.stage, err = d.newStage()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it is absent if another process has removed it
			break
		}
	}
	return d.stage, err
}

// makeOwn removes a link or a file of that name.
func (d *ProviderDir) makeOwn() error {
	info, err := d.root.Lstat(ownName)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		if err := d.root.Remove(ownName); err != nil {
			return err
		}
	}
	err = atomicfile.Step(providerKind.steps+".dirs.mkdir", func() error { return d.root.Mkdir(ownName, 0o700) })
	if errors.Is(err, fs.ErrExist) {
		return nil // another process created it
	}
	return err
}

func (d *ProviderDir) newStage() (*stage, error) {
	own, err := pathsafe.OpenDir(d.root, d.path, ownName)
	if err != nil {
		return nil, err
	}
	return newStage(own, d.Path(ownName), providerKind.steps)
}

// staged is a file, link or directory on the stage.
type staged struct {
	root *os.Root
	name string
}

func (d *ProviderDir) replace(pkg *ProviderPackage, made staged, parent *os.Root, at string, before fs.FileInfo) error {
	info, err := made.root.Lstat(made.name)
	if err != nil {
		return err
	}
	to := path.Base(at)
	if before != nil && (before.IsDir() || info.IsDir()) {
		old := rand.Text()
		err := atomicfile.Step("provider.place.retire", func() error { return renameBetween(parent, to, made.root, old) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		defer func() { _ = atomicfile.RemoveAllIn(made.root, old) }() // otherwise Close removes it
	}
	if err := atomicfile.Step("provider.place.rename", func() error { return renameBetween(made.root, made.name, parent, to) }); err != nil {
		return err
	}
	if !info.IsDir() {
		return nil
	}
	written, err := pathsafe.OpenDir(parent, d.Path(path.Dir(at)), to)
	if err != nil {
		return err
	}
	defer written.Close()
	d.store.proveWritten(d.Path(at), written, pkg.H1)
	return nil
}

var errCopyDiffers = errors.New("the copy differs from the package: another program changes it, or the file system cannot hold it")

// copyPackage copies to a new directory in parent, and hashes the copy. If possible, blocks are shared.
func copyPackage(ctx context.Context, pkg *ProviderPackage, parent *os.Root, name string) error {
	from, err := pathsafe.OpenRoot(pkg.dir)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := treewriter.CopyUnhashed(ctx, parent, name, hashing.RootFS(from), providerzip.Limits()); err != nil {
		return fmt.Errorf("copying %s: %w", pkg.dir, err)
	}
	copied, err := parent.OpenRoot(name)
	if err != nil {
		return err
	}
	defer copied.Close()
	if tree, err := providerzip.ReadRoot(ctx, copied); err != nil || tree.H1() != pkg.H1 {
		return errors.Join(errCopyDiffers, err, atomicfile.RemoveAllIn(parent, name))
	}
	return nil
}
