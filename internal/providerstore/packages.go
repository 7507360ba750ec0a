package providerstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/dirstore"
	"github.com/cotterpin/cotter/internal/step"
)

// ErrDamaged is returned if the hash of a package in the store differs from its name. The package
// has been moved to quarantine.
var ErrDamaged = errors.New("the stored package does not have the hash of its name")

// Package is an unpacked package in the store, on the stage, or in a directory of another
// program.
type Package struct {
	H1 hashing.Hash

	mu sync.Mutex
	// dir is the package's directory. It changes when a package on the stage is placed.
	dir  string
	kind packageKind
	// placed reports whether the package was moved from the stage into a project.
	placed bool
}

type packageKind int

// The kinds. The zero value is the one whose content is compared when it is placed.
const (
	foreign packageKind = iota
	staged
	stored
	// installed packages are in a project. Another project gets a copy, and no link to the project.
	installed
)

// Dir returns the package's directory.
func (p *Package) Dir() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dir
}

// Foreign returns the package in a directory of another program, such as a mirror of unpacked
// packages. It hashes the directory, which must not exceed the limits of packages.
func (s *Store) Foreign(ctx context.Context, dir string) (*Package, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	got, err := s.hashDir(ctx, dir, hashOptions{})
	if err != nil {
		return nil, err
	}
	return &Package{H1: got.h1, dir: dir, kind: foreign}, nil
}

// Installed returns the package at a place in a project's directory of providers, or nil if there is
// none that stock tools could use. Its files are read only if one of them has changed since this
// user last hashed them; see [Dir.Inspect].
func (s *Store) Installed(ctx context.Context, dir, at string) (*Package, error) {
	d, err := s.ViewDir(dir)
	if err != nil {
		return nil, ctx.Err()
	}
	defer d.root.Close()
	state := d.Inspect(ctx, at, false)
	if state.Err != nil || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return &Package{H1: state.H1, dir: d.Path(at), kind: installed}, nil
}

// Find returns the stored package that has one of these hashes, or nil. It ignores hashes other
// than h1 and zh. The content of the returned package has been compared with its hash. If the
// only such package is damaged, the error wraps [ErrDamaged].
func (s *Store) Find(ctx context.Context, hashes []hashing.Hash) (*Package, error) {
	var damaged error
	for _, h := range hashes {
		h1 := h
		if h.Scheme() != "h1" {
			h1 = s.UnpacksTo(h)
		}
		if h1 == "" {
			continue
		}
		switch found, err := s.find(ctx, h1); {
		case err == nil:
			return found, nil
		case errors.Is(err, ErrDamaged):
			damaged = err
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return nil, damaged
}

// find returns the stored package with an h1 hash. Each process checks a package only once.
func (s *Store) find(ctx context.Context, h1 hashing.Hash) (*Package, error) {
	name := fileName(h1)
	return s.checked.Do(ctx, name, func(ctx context.Context) (*Package, error) {
		if err := s.check(ctx, name, false); err != nil {
			return nil, err
		}
		s.markUsed(name)
		return &Package{H1: h1, dir: s.path(name), kind: stored}, nil
	})
}

// path returns the path of a package in the store.
func (s *Store) path(name string) string { return filepath.Join(s.dir, packagesName, name) }

// Check reads and hashes all files of a package in the store. The error wraps [ErrDamaged] if the
// hash differs from the package's name.
func (s *Store) Check(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.check(ctx, name, true)
}

// check compares a package with its name, and moves the package to quarantine if they differ.
func (s *Store) check(ctx context.Context, name string, full bool) error {
	if !s.use(name) {
		return &fs.PathError{Op: "open", Path: s.path(name), Err: fs.ErrNotExist}
	}
	got, err := s.hashDir(ctx, s.path(name), hashOptions{full: full})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	_, isForeign := errors.AsType[*foreignError](err)
	switch {
	case err == nil && fileName(got.h1) == name:
		if s.writable && slices.ContainsFunc(got.files, func(f fileState) bool { return f.Mode&0o222 != 0 }) {
			_ = setWritable(s.path(name), false) // this makes the proof invalid
			s.trust(s.path(name), got.h1)
		}
		return nil
	case err != nil && !isForeign && !isDamage(err):
		return err
	}
	return errors.Join(fmt.Errorf("%s: %w", s.path(name), ErrDamaged), s.quarantine(name))
}

// isDamage reports whether reading failed because of the content of a tree, and not because of
// the system.
func isDamage(err error) bool {
	_, badTree := errors.AsType[*hashing.TreeError](err)
	_, failed := errors.AsType[*fs.PathError](err)
	return badTree && !failed || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// use locks a package until the store is closed. It returns false if the package does not exist
// or is being removed.
func (s *Store) use(name string) bool {
	return s.dir != "" && hashOf(name) != "" && s.inUse.Use(s.path(name))
}

// publishAttempts is the number of attempts if another process removes the package at the same
// time.
const publishAttempts = 10

// Publish makes a package of the tree at dir, a path from [Store.Stage]. h1 must have been
// computed while the tree was written. The package becomes part of the store, or stays on the
// stage if the store is not writable.
func (s *Store) Publish(ctx context.Context, dir string, h1 hashing.Hash) (*Package, error) {
	if !s.writable {
		return &Package{H1: h1, dir: dir, kind: staged}, nil
	}
	if err := setWritable(dir, false); err != nil {
		return nil, err
	}
	name := fileName(h1)
	var err error
	for range publishAttempts {
		if found, err := s.find(ctx, h1); err == nil {
			return found, step.Do("provider.package.drop", func() error { return dirstore.RemoveAll(dir) })
		}
		if err = s.clear(name); err != nil {
			return nil, err
		}
		// A directory must be writable to be moved.
		if err = os.Chmod(dir, 0o755); err != nil { //nolint:gosec // as all directories of packages
			return nil, err
		}
		err = s.inUse.Publish(dir, s.path(name), func() error {
			return step.Do("provider.package.publish", func() error { return os.Rename(dir, s.path(name)) })
		})
		if err == nil {
			_ = step.Do("provider.package.protect", func() error { return os.Chmod(s.path(name), 0o555) }) //nolint:gosec // the mode of all packages
			s.trust(s.path(name), h1)
			return &Package{H1: h1, dir: s.path(name), kind: stored}, nil
		}
	}
	return nil, err
}

// clear quarantines anything that has the name of a package but is not a directory.
func (s *Store) clear(name string) error {
	info, err := os.Lstat(s.path(name))
	if err != nil || info.IsDir() {
		return nil //nolint:nilerr // after another error the rename will fail
	}
	return s.quarantine(name)
}

// quarantine releases a package and moves it to the quarantine directory.
func (s *Store) quarantine(name string) error {
	s.inUse.Release(s.path(name))
	if !s.writable {
		return nil
	}
	dir := filepath.Join(s.dir, quarantineName)
	if err := dirstore.MakeDir(dir, steps); err != nil { // cleaning may have removed it
		return err
	}
	return s.move("provider.package.quarantine", s.path(name), filepath.Join(dir, rand.Text()))
}

// move renames a package after it has made the directory writable. It returns no error if another
// process has already moved the package.
func (s *Store) move(stepName, from, to string) error {
	if info, err := os.Lstat(from); err == nil && info.IsDir() {
		_ = os.Chmod(from, 0o755)
	}
	err := step.Do(stepName, func() error { return os.Rename(from, to) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// markUsed records the time of use as the modification time of the package, if it can be set.
func (s *Store) markUsed(name string) {
	if s.writable {
		dirstore.MarkUsed(s.path(name))
	}
}

// setWritable makes the files and directories of a tree writable, or read-only.
func setWritable(dir string, writable bool) error {
	var mask fs.FileMode
	if writable {
		mask = 0o200
	}
	// A directory must be listed before it becomes read-only and after it becomes writable.
	var dirs []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && writable:
			return os.Chmod(name, 0o755) //nolint:gosec // the tree is private
		case d.IsDir():
			dirs = append(dirs, name)
		case d.Type().IsRegular():
			info, err := d.Info()
			if err != nil {
				return err
			}
			if mode := info.Mode().Perm()&^0o222 | mask; mode != info.Mode().Perm() {
				return os.Chmod(name, mode) //nolint:gosec // the tree is private
			}
		}
		return nil
	})
	for _, name := range dirs {
		if err == nil {
			err = os.Chmod(name, 0o555) //nolint:gosec // the mode of all packages
		}
	}
	return err
}

// Writable makes a directory and everything in it writable, so that it can be removed.
func Writable(dir string) error { return setWritable(dir, true) }
