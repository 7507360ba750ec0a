package providerstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/providerzip"
	"github.com/cotterpin/cotter/internal/step"
)

// State describes what is at a place.
type State struct {
	// H1 is the hash of the package, or "" if it could not be hashed.
	H1 hashing.Hash
	// Target is the target of the link if the place is a symbolic link.
	Target string
	// Stored reports whether the place is a link to a package of the store.
	Stored bool
	// Err is the reason why stock tools could not use the package, whatever its hash is. It wraps
	// fs.ErrNotExist if there is nothing at the place, or a link to nothing.
	Err error
}

// Inspect returns the state of a place. If full is set, it reads all files. Otherwise it reads
// them only if one of them has changed since this user last hashed them. If the place is a link to
// a directory outside of the store, it always reads them: another user may own them. Inspect stops
// when ctx ends.
func (d *Dir) Inspect(ctx context.Context, at string, full bool) State {
	if err := d.checkParents(path.Dir(at)); err != nil {
		return State{Err: err}
	}
	info, err := d.root.Lstat(filepath.FromSlash(at))
	if err != nil {
		return State{Err: err}
	}
	var state State
	if info.Mode().Type() == fs.ModeSymlink {
		if state.Target, err = d.root.Readlink(filepath.FromSlash(at)); err != nil {
			return State{Err: err}
		}
		target, err := filepath.EvalSymlinks(d.Path(at))
		state.Stored = err == nil && d.store.isStored(target)
	}
	found, err := d.store.hashDir(ctx, d.Path(at), hashOptions{full: full, inProject: info.IsDir()})
	if err != nil {
		state.Err = err
		return state
	}
	state.H1 = found.h1
	state.Err = executableFault(found.files, path.Base(path.Dir(path.Dir(at))))
	return state
}

// Differences returns how the files at a place differ from those of a package. It returns no
// changes if either cannot be read.
func (d *Dir) Differences(ctx context.Context, pkg *Package, at string) hashing.Changes {
	read := func(dir string) *hashing.Tree {
		root, err := pathsafe.OpenRoot(dir)
		if err != nil {
			return nil
		}
		defer root.Close()
		if _, err := list(ctx, root); err != nil {
			return nil // it exceeds the limits
		}
		tree, err := providerzip.ReadRoot(ctx, root)
		if err != nil {
			return nil
		}
		return tree
	}
	want, got := read(pkg.Dir()), read(d.Path(at))
	if want == nil || got == nil {
		return hashing.Changes{}
	}
	return hashing.Diff(want, got)
}

// checkParents returns an error if one of the directories above a place is a link, because
// Terraform does not follow such a link.
func (d *Dir) checkParents(dir string) error {
	made := ""
	for component := range strings.SplitSeq(dir, "/") {
		made = filepath.Join(made, component)
		info, err := d.root.Lstat(made)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is not a directory", filepath.Join(d.path, made))
		}
	}
	return nil
}

// executableFault returns the reason why stock tools cannot run a package with these files, or
// nil.
func executableFault(files []fileState, providerType string) error {
	i := slices.IndexFunc(files, func(f fileState) bool { return providerzip.IsExecutable(f.Path, providerType) })
	switch {
	case i < 0:
		return errors.New("it has no executable")
	case runtime.GOOS != "windows" && files[i].Mode.IsRegular() && files[i].Mode&0o111 == 0:
		return fmt.Errorf("%s is not executable", files[i].Path)
	}
	return nil
}

// placeDepth is the number of path components of a place.
const placeDepth = 5

// Placed returns the places that are not empty, sorted.
func (d *Dir) Placed() ([]string, error) {
	var found []string
	err := fs.WalkDir(d.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		depth := strings.Count(name, "/") + 1
		switch {
		case err != nil || name == ".":
			return err
		case strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case depth == placeDepth:
			found = append(found, name)
			if entry.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
	return found, err
}

// Remove removes what is at a place, and the directories above it that become empty. It does not
// remove the target of a link.
func (d *Dir) Remove(at string) error {
	name := filepath.FromSlash(at)
	err := step.Do("provider.place.remove", func() error { return d.root.RemoveAll(name) })
	for dir := filepath.Dir(name); err == nil && dir != "."; dir = filepath.Dir(dir) {
		if d.root.Remove(dir) != nil {
			break
		}
	}
	return err
}
