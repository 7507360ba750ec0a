package cotter

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/project"
)

// Layout is how packages are laid out in .terraform/modules.
type Layout int

// The layouts. Both have every module in the directory where stock tools have
// it. LayoutLinks gives a call of a subdirectory a private copy of that
// directory, and of those that the module calls by local paths; the rest of the
// package is there once in the project, and reached by relative links. Where
// there are no links, and with LayoutCopy, each call has a private copy of the
// whole package, as with stock tools.
const (
	LayoutLinks Layout = iota
	LayoutCopy
)

// linkedPackage is a call's directory in the making: real directories where
// modules are, links to the project's own tree of the package for all else.
type linkedPackage struct {
	dst  string   // the call's directory
	src  *os.Root // the whole package
	name string   // of the whole package in the project
	tree *packageTree
	real []string // the modules' directories in the package
	// links makes the links to the rest of it; linked reports whether it did.
	links  *links
	linked bool
}

// build makes the directory dir of the package.
func (l *linkedPackage) build(dir string) error {
	if err := os.Mkdir(filepath.Join(l.dst, filepath.FromSlash(dir)), 0o755); err != nil {
		return err
	}
	for _, child := range l.children(dir) {
		var err error
		switch {
		case slices.ContainsFunc(l.real, func(r string) bool { return within(child, r) }):
			err = l.copyAll(child)
		case slices.ContainsFunc(l.real, func(r string) bool { return within(r, child) }):
			err = l.build(child)
		default:
			l.linked = true
			err = l.links.add(filepath.FromSlash(project.TreeLink(l.name, child)), filepath.Join(l.dst, filepath.FromSlash(child)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// children are the paths of what is in a directory of the package.
func (l *linkedPackage) children(dir string) []string {
	entries := l.tree.Entries
	prefix := ""
	if dir != "" {
		entries, prefix = l.tree.Part(dir), dir+"/"
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

// copyAll copies what the package has at a path and below it.
func (l *linkedPackage) copyAll(name string) error {
	for _, e := range l.tree.Part(name) {
		dst := filepath.Join(l.dst, filepath.FromSlash(e.Path))
		if err := os.MkdirAll(filepath.Dir(dst), 0o755); err != nil {
			return err
		}
		var err error
		switch e.Kind {
		case hashing.EmptyDir:
			err = os.Mkdir(dst, 0o755)
		case hashing.Link:
			err = os.Symlink(filepath.FromSlash(e.Target), dst)
		default:
			err = l.copyFile(e, dst)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *linkedPackage) copyFile(e hashing.Entry, dst string) (err error) {
	src, err := l.src.Open(filepath.FromSlash(e.Path))
	if err != nil {
		return err
	}
	defer src.Close()
	mode := os.FileMode(0o644)
	if e.Kind == hashing.ExecFile {
		mode = 0o755
	}
	file, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if e := file.Close(); err == nil {
			err = e
		}
	}()
	if _, err := io.Copy(file, src); err != nil {
		return err
	}
	return file.Chmod(mode) // whatever the umask
}

// realDirs are the directories of a package in which the modules of a call are:
// its own and those of the local modules below it.
func realDirs(owner *node, nodes []*node) []string {
	var dirs []string
	for _, n := range nodes {
		if n.pkg == owner.pkg {
			dirs = append(dirs, path.Clean(n.subdir))
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
