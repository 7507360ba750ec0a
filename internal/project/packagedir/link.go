package packagedir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/project"
)

// Link makes a linked directory under a name in the staging directory. own are the directories in the
// package that the call gets private copies of; "." means all. linked reports whether there are links into
// the shared tree.
func (s *Stage) Link(ctx context.Context, name string, shared *Shared, own []string) (path string, linked bool, err error) {
	release, err := s.Slot(ctx)
	if err != nil {
		return "", false, err
	}
	defer release()
	source, err := pathsafe.OpenRoot(shared.Path)
	if err != nil {
		return "", false, err
	}
	defer source.Close()
	stage, err := s.Project.Stage()
	if err != nil {
		return "", false, err
	}
	d := &linkedDir{stage: stage, name: name, source: source, shared: shared, own: own, links: &s.links, disk: packagelimits.DiskOf(ctx)}
	if !d.hasDirs(own) {
		d.own = d.children("")
	}
	if err := d.build(""); err != nil {
		return "", false, err
	}
	if err := d.check(ctx); err != nil {
		return "", false, fmt.Errorf("%s changed while it was being placed: %w", shared.Name, err)
	}
	return s.Project.StagePath(name), d.linked, nil
}

type linkedDir struct {
	stage  *os.Root // the staging directory, with the name of this one
	name   string
	source *os.Root // of the shared tree
	shared *Shared
	own    []string
	links  *links
	linked bool
	disk   *packagelimits.Disk
}

// hasDirs does not count directories that are reached through the package's own links. The call then gets a
// copy of everything.
func (d *linkedDir) hasDirs(dirs []string) bool {
	for _, dir := range dirs {
		part := d.shared.Tree.Part(dir)
		if len(part) == 0 || part[0].Path == dir && part[0].Kind != hashing.EmptyDir {
			return false
		}
	}
	return true
}

func (d *linkedDir) build(dir string) error {
	if err := d.stage.Mkdir(d.inDir(dir), 0o755); err != nil {
		return err
	}
	for _, child := range d.children(dir) {
		var err error
		switch {
		case slices.ContainsFunc(d.own, func(own string) bool { return pathsafe.Within(child, own) }):
			err = d.copyAll(child)
		case slices.ContainsFunc(d.own, func(own string) bool { return pathsafe.Within(own, child) }):
			err = d.build(child)
		default:
			d.linked = true
			err = d.links.add(d.stage, project.TreeLink(d.shared.Name, child), d.inDir(child))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *linkedDir) inDir(name string) string { return filepath.Join(d.name, filepath.FromSlash(name)) }

func (d *linkedDir) children(dir string) []string {
	entries, prefix := d.shared.Tree.Entries, ""
	if dir != "" {
		entries, prefix = d.shared.Tree.Part(dir), dir+"/"
	}
	var children []string
	for _, e := range entries {
		name, _, _ := strings.Cut(strings.TrimPrefix(e.Path, prefix), "/")
		if child := prefix + name; len(children) == 0 || children[len(children)-1] != child {
			children = append(children, child)
		}
	}
	slices.Sort(children)
	return slices.Compact(children) // "a" and "a/b" can have "a.c" between them
}

func (d *linkedDir) copyAll(name string) error {
	for _, e := range d.shared.Tree.Part(name) {
		target := d.inDir(e.Path)
		if err := d.stage.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		var err error
		switch e.Kind {
		case hashing.EmptyDir:
			err = d.stage.Mkdir(target, 0o755)
		case hashing.Link:
			err = d.stage.Symlink(filepath.FromSlash(e.Target), target)
		default:
			err = d.copyFile(e, target)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *linkedDir) copyFile(e hashing.Entry, target string) (err error) {
	from, err := d.source.Open(filepath.FromSlash(e.Path))
	if err != nil {
		return err
	}
	defer from.Close()
	mode := os.FileMode(0o644)
	if e.Kind == hashing.ExecFile {
		mode = 0o755
	}
	file, err := d.stage.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if e := file.Close(); err == nil {
			err = e
		}
	}()
	if err := d.disk.Take(e.Size); err != nil {
		return err
	}
	if _, err := io.Copy(file, from); err != nil {
		return err
	}
	return file.Chmod(mode) // regardless of the umask
}

func (d *linkedDir) check(ctx context.Context) error {
	root, err := d.stage.OpenRoot(d.name)
	if err != nil {
		return err
	}
	defer root.Close()
	want := d.shared.Tree
	got, err := hashing.Reader{Whole: func(path, target string) *hashing.Tree {
		if project.LinkedTree(target, path) != d.shared.Name {
			return nil
		}
		return want.Tree
	}}.Read(ctx, hashing.RootFS(root))
	if err != nil {
		return err
	}
	if got != want.Tree && got.T1() != want.T1() {
		return errors.New("the copy differs from the package")
	}
	return nil
}
