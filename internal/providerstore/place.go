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

// Layout is the way in which a package is placed in a project.
type Layout int

const (
	// LayoutLink places a symbolic link into the store. It places a copy if links are not possible
	// or the package is not in the store.
	LayoutLink Layout = iota
	// LayoutCopy places a copy.
	LayoutCopy
)

// At returns the place where stock tools look for a package: HOST/NAMESPACE/TYPE/VERSION/OS_ARCH.
func At(provider addrs.Provider, version versions.Version, platform addrs.Platform) string {
	return path.Join(provider.String(), version.String(), platform.String())
}

// ownName is a directory for temporary files, next to the directories of hosts.
const ownName = ".cotter"

// Dir is the directory of a project in which stock tools find providers, usually
// .terraform/providers. Places in it are paths as [At] returns them. A Dir must be closed. Its
// methods may be called concurrently for different places.
type Dir struct {
	store *Store
	path  string // absolute
	root  *os.Root

	mu    sync.Mutex
	stage *dirstore.Stage // nil until it is needed
}

// Dir opens a project's directory of providers and creates it if necessary. It follows links in
// the path. It removes the temporary files of killed processes.
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

// ViewDir is like [Store.Dir], but changes nothing. The error wraps fs.ErrNotExist if the
// directory does not exist.
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

// Close removes the temporary files.
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

// Path returns the absolute path of a place on disk.
func (d *Dir) Path(at string) string { return filepath.Join(d.path, filepath.FromSlash(at)) }

// Replaced is the kind of entry that a package has replaced.
type Replaced int

// The kinds of entries that are replaced.
const (
	// Nothing means that the place was empty or already had the package.
	Nothing Replaced = iota
	// OtherFiles is a directory with other content, such as one that a killed process left
	// incomplete.
	OtherFiles
	// OtherLink is a link at the place or above it that points elsewhere or to nothing.
	OtherLink
	// OtherFile is a file or another kind of entry at the place or above it.
	OtherFile
)

// Place puts a package at a place and returns what it has replaced. Stock tools see the previous
// entry, nothing, or the whole package, but never a part of it. If the place already has the
// package, Place leaves it unchanged: with LayoutLink, this includes a copy and a link to another
// directory with the same content.
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
		if d.has(ctx, pkg, at, info, layout) {
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

// makeParents creates the directories above a place. It replaces files and also links, because
// Terraform does not follow links there.
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

// has reports whether a place already has the package.
func (d *Dir) has(ctx context.Context, pkg *Package, at string, info fs.FileInfo, layout Layout) bool {
	isLink := info.Mode().Type() == fs.ModeSymlink
	if isLink && layout == LayoutCopy {
		return false
	}
	if target, err := d.root.Readlink(filepath.FromSlash(at)); err == nil && target == pkg.Dir() && pkg.kind != staged {
		return true
	}
	state := d.Inspect(ctx, at, false)
	return state.Err == nil && state.H1 == pkg.H1
}

// prepare creates the new entry on the stage and returns its path relative to d.
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
	if layout == LayoutLink && runtime.GOOS != "windows" && pkg.kind != installed &&
		step.Do("provider.place.link", func() error { return os.Symlink(pkg.Dir(), to) }) == nil {
		return made, nil
	}
	return made, step.Do("provider.place.copy", func() error { return copyPackage(ctx, pkg, to) })
}

// stageName returns the path of the staging directory relative to d. It is on the same file
// system as the places.
func (d *Dir) stageName() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	own := filepath.Join(d.path, ownName)
	var err error
	for attempt := 0; d.stage == nil && attempt < publishAttempts; attempt++ {
		if err = dirstore.MakeDir(own, steps); err == nil {
			d.stage, err = dirstore.NewStage(own, steps)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it is absent if another process has removed it
			break
		}
	}
	if err != nil {
		return "", err
	}
	return filepath.Join(ownName, filepath.Base(d.stage.Dir())), nil
}

// publish moves the entry made to its place, and moves the previous entry out of the way first.
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
		defer func() { _ = dirstore.RemoveAll(filepath.Join(d.path, old)) }() // otherwise Close removes it
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
