package providerstore

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/dirstore"
	"github.com/cotterpin/cotter/internal/step"
	"github.com/cotterpin/cotter/versions"
)

// Layout is how a package is placed in a project.
type Layout int

const (
	// LayoutLink places a symbolic link into the store, or a copy where there are no
	// links or no store.
	LayoutLink Layout = iota
	// LayoutCopy places a copy.
	LayoutCopy
)

// At returns where stock tools look for a package:
// HOST/NAMESPACE/TYPE/VERSION/OS_ARCH.
func At(provider addrs.Provider, version versions.Version, platform addrs.Platform) string {
	return path.Join(provider.String(), version.String(), platform.String())
}

// ownName is a directory for what is on its way, beside those of hosts.
const ownName = ".cotter"

// Dir is the directory of a project in which stock tools find providers, usually
// .terraform/providers. Its paths are those of [At]. It must be closed. Its methods may
// be called for several places at once.
type Dir struct {
	store *Store
	path  string // absolute
	root  *os.Root

	mu    sync.Mutex
	stage *dirstore.Stage // nil until it is needed
}

// Dir opens the directory of a project, and makes it if it is absent. Links in its path
// are followed. What a killed process has left there is removed.
func (s *Store) Dir(name string) (*Dir, error) {
	if err := os.MkdirAll(name, 0o755); err != nil { //nolint:gosec // it is no secret
		return nil, err
	}
	d, err := s.ViewDir(name)
	if err != nil {
		return nil, err
	}
	if info, err := d.root.Lstat(ownName); err == nil && info.IsDir() {
		dirstore.RemoveAbandoned(filepath.Join(d.path, ownName), steps)
		_ = d.root.Remove(ownName) // if no other process uses it
	}
	return d, nil
}

// ViewDir is [Store.Dir], and changes nothing. The error wraps fs.ErrNotExist if there is
// no such directory.
func (s *Store) ViewDir(name string) (*Dir, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &Dir{store: s, path: name, root: root}, nil
}

// Close removes what is on its way.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	if d.stage != nil {
		err = d.stage.Close()
		_ = d.root.Remove(ownName) // if no other process uses it
		d.stage = nil
	}
	return errors.Join(err, d.root.Close())
}

// Path returns the path of a place on disk.
func (d *Dir) Path(at string) string { return filepath.Join(d.path, filepath.FromSlash(at)) }

// Replaced is what was at a place before.
type Replaced int

// The kinds of what is replaced.
const (
	// Nothing means that there was nothing, or the package already.
	Nothing Replaced = iota
	// OtherFiles is a directory with other content, such as one that a killed process
	// has not filled.
	OtherFiles
	// OtherLink is a link to somewhere else or to nothing, at the place or above it.
	OtherLink
	// OtherFile is a file, or something else, at the place or above it.
	OtherFile
)

// Place puts a package at a place, and returns what it replaces there. Stock tools see
// what was there before, nothing, or the package, and never a part of it. If the package
// is there already, it is left alone: in the layout with links also a copy, or a link to
// another directory.
func (d *Dir) Place(ctx context.Context, pkg *Package, at string, layout Layout) (Replaced, error) {
	replaced, err := d.makeParents(path.Dir(at))
	if err != nil {
		return 0, err
	}
	info, err := d.root.Lstat(filepath.FromSlash(at))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if info != nil {
		if d.has(pkg, at, info, layout) {
			return Nothing, nil
		}
		replaced = kindOf(info)
	}
	made, err := d.prepare(ctx, pkg, layout)
	if err != nil {
		return 0, err
	}
	return replaced, d.publish(pkg, made, at, info)
}

func kindOf(info fs.FileInfo) Replaced {
	switch {
	case info.IsDir():
		return OtherFiles
	case info.Mode().Type() == fs.ModeSymlink:
		return OtherLink
	}
	return OtherFile
}

// makeParents makes the directories above a place. Terraform does not follow links
// there, so that they are replaced, as files are.
func (d *Dir) makeParents(dir string) (Replaced, error) {
	replaced := Nothing
	made := ""
	for component := range strings.SplitSeq(dir, "/") {
		made = filepath.Join(made, component)
		info, err := d.root.Lstat(made)
		if err == nil && !info.IsDir() {
			replaced = kindOf(info)
			err = step.Do("provider.parent.remove", func() error { return d.root.Remove(made) })
			info = nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		if info == nil {
			err := step.Do("provider.parent.mkdir", func() error { return d.root.Mkdir(made, 0o755) })
			if err != nil && !errors.Is(err, fs.ErrExist) {
				return 0, err
			}
		}
	}
	return replaced, nil
}

// has reports whether the package is at a place already.
func (d *Dir) has(pkg *Package, at string, info fs.FileInfo, layout Layout) bool {
	isLink := info.Mode().Type() == fs.ModeSymlink
	if isLink && layout == LayoutCopy {
		return false
	}
	if target, err := d.root.Readlink(filepath.FromSlash(at)); err == nil && target == pkg.Dir() && pkg.kind == stored {
		return true
	}
	state := d.Inspect(at, false)
	return state.Err == nil && state.H1 == pkg.H1
}

// prepare makes the entry for a place on the stage, and returns its path in the
// directory.
func (d *Dir) prepare(ctx context.Context, pkg *Package, layout Layout) (string, error) {
	stageName, err := d.stageName()
	if err != nil {
		return "", err
	}
	made := filepath.Join(stageName, rand.Text())
	to := filepath.Join(d.path, made)
	if pkg.kind == staged {
		return made, pkg.take(ctx, to)
	}
	if layout == LayoutLink && runtime.GOOS != "windows" &&
		step.Do("provider.place.link", func() error { return os.Symlink(pkg.Dir(), to) }) == nil {
		return made, nil
	}
	return made, step.Do("provider.place.copy", func() error { return copyPackage(ctx, pkg, to) })
}

// stageName returns the directory for what is on its way, which is on the file system of
// the places.
func (d *Dir) stageName() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	own := filepath.Join(d.path, ownName)
	var err error
	for attempt := 0; d.stage == nil && attempt < publishAttempts; attempt++ {
		if err = dirstore.MakeDir(own, steps); err == nil {
			d.stage, err = dirstore.NewStage(own, steps)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // which it is if another process has removed it
			break
		}
	}
	if err != nil {
		return "", err
	}
	return filepath.Join(ownName, filepath.Base(d.stage.Dir())), nil
}

// publish moves what was made to its place, and what is there out of the way.
func (d *Dir) publish(pkg *Package, made, at string, before fs.FileInfo) error {
	info, err := d.root.Lstat(made)
	if err != nil {
		return err
	}
	to := filepath.FromSlash(at)
	if before != nil && (before.IsDir() || info.IsDir()) {
		old := filepath.Join(filepath.Dir(made), rand.Text())
		err := step.Do("provider.place.retire", func() error { return d.root.Rename(to, old) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		defer func() { _ = dirstore.RemoveAll(filepath.Join(d.path, old)) }() // or Close does
	}
	if err := step.Do("provider.place.rename", func() error { return d.root.Rename(made, to) }); err != nil {
		return err
	}
	if !info.IsDir() {
		return nil
	}
	pkg.moved(filepath.Join(d.path, made), d.Path(at))
	d.store.trust(d.Path(at), pkg.H1)
	return nil
}
