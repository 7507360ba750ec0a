package cotter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/opendir"
)

// placeLocal finds the directory of a local module: in its caller's package,
// or among the user's own files.
func placeLocal(n *node, rootDir string) error {
	source := string(n.source.(addrs.ModuleSourceLocal))
	if n.parent.pkg == nil {
		return n.placeOwn(source, rootDir)
	}
	n.pkg = n.parent.pkg
	n.subdir = path.Join(n.parent.subdir, source)
	if n.subdir == ".." || strings.HasPrefix(n.subdir, "../") {
		return n.fail(fmt.Errorf("%w: %q leads out of the package of module %s", ErrEscapesPackage, source, n.pkg.key))
	}
	return n.enter()
}

// placeOwn places a module of the user's own, which may be anywhere. Its
// directory is recorded as stock tools do it, for it is what path.module gives:
// the source as it is written joined to the caller's directory, and then without
// symbolic links.
func (n *node) placeOwn(source, rootDir string) error {
	written := path.Join(n.parent.dir, source)
	base, err := filepath.EvalSymlinks(rootDir)
	if err != nil {
		return n.fail(err)
	}
	dir, err := resolveLinks(base, filepath.FromSlash(written))
	if err != nil {
		return n.fail(unreadable(written, err))
	}
	n.dir, n.now = filepath.ToSlash(dir), inside(base, dir)
	info, err := os.Stat(n.now)
	if err != nil || !info.IsDir() {
		return n.fail(unreadable(written, err))
	}
	return nil
}

// enter sets the directories of a module inside a package, whose subdir is
// known. Links are resolved, and may not leave the package.
func (n *node) enter() error {
	if err := n.checkSubmodules(); err != nil {
		return err
	}
	if err := n.checkLinks(); err != nil {
		return err
	}
	root, err := opendir.Root(n.pkg.now)
	if err != nil {
		return n.fail(err)
	}
	defer root.Close()
	info, err := root.Stat(orElse(filepath.FromSlash(n.subdir), "."))
	if err != nil || !info.IsDir() {
		return n.fail(n.noSubdir(err))
	}
	if _, local := n.source.(addrs.ModuleSourceLocal); local {
		if n.subdir, err = relativeTo(n.pkg.now, filepath.Join(n.pkg.now, n.subdir)); err != nil {
			return n.fail(err)
		}
	}
	n.now = filepath.Join(n.pkg.now, n.subdir)
	n.dir = path.Join(n.pkg.dir, n.subdir)
	if _, local := n.source.(addrs.ModuleSourceLocal); local {
		n.dir = path.Join(n.pkg.realDir, n.subdir)
	}
	return nil
}

// checkSubmodules refuses a module whose own files are in a git submodule,
// which is not fetched.
func (n *node) checkSubmodules() error {
	for _, link := range n.pkg.gitlinks {
		if within(link, n.subdir) || within(n.subdir, link) {
			return n.fail(fmt.Errorf("%q in the repository is a git submodule, which is fetched with --submodules only; or call its repository as a module of its own", link))
		}
	}
	return nil
}

// checkLinks refuses a module in a directory that a link leads to, or from which
// a link leads, that was left out of the package. For a module at the package's
// root only links right in that directory count: below it are directories that the
// module does not need, such as examples.
func (n *node) checkLinks() error {
	if len(n.pkg.leftOut) == 0 {
		return nil
	}
	dirs := []string{n.subdir}
	if actual, err := relativeTo(n.pkg.now, filepath.Join(n.pkg.now, n.subdir)); err == nil {
		dirs = append(dirs, strings.TrimPrefix(actual, "."))
	} // else enter says what is wrong
	for _, link := range n.pkg.leftOut {
		for _, dir := range dirs {
			if within(link.Path, dir) || within(dir, link.Path) || dir == "" && path.Dir(link.Path) == "." {
				return n.fail(fmt.Errorf("%w: the symbolic link %s", getmodules.ErrUnsafeEntry, link))
			}
		}
	}
	return nil
}

// linksBelow are the links below a directory of a package, as this directory's.
func linksBelow(links []getmodules.Link, dir string) []getmodules.Link {
	if dir == "" {
		return links
	}
	var below []getmodules.Link
	for _, link := range links {
		if within(link.Path, dir) {
			link.Path = strings.TrimPrefix(link.Path, dir+"/")
			below = append(below, link)
		}
	}
	return below
}

// within reports whether the path is the directory or below it.
func within(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, dir+"/")
}

// noSubdir names the directories of the package that do hold configuration:
// most often the wanted one was renamed.
func (n *node) noSubdir(cause error) error {
	if cause == nil {
		cause = errors.New("it is a file")
	}
	if errors.Is(cause, fs.ErrNotExist) {
		cause = errors.New("the package has no such directory")
	}
	err := fmt.Errorf("%w: %q: %w", ErrNoSubdir, n.subdir, cause)
	if dirs := moduleDirs(n.pkg); len(dirs) > 0 {
		err = fmt.Errorf("%w; it has modules in %s", err, strings.Join(dirs, ", "))
	}
	return err
}

func unreadable(dir string, cause error) error {
	if cause == nil {
		return fmt.Errorf("unreadable module directory: %q is not a directory", dir)
	}
	if errors.Is(cause, fs.ErrNotExist) {
		return fmt.Errorf("unreadable module directory: %q does not exist: %w", dir, fs.ErrNotExist)
	}
	return fmt.Errorf("unreadable module directory: %w", cause)
}

// relativeTo is dir without links, relative to base, with forward slashes.
func relativeTo(base, dir string) (string, error) {
	realBase, err := filepath.EvalSymlinks(base)
	if err != nil {
		return "", err
	}
	realDir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if realBase, err = filepath.Abs(realBase); err != nil {
		return "", err
	}
	if realDir, err = filepath.Abs(realDir); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(realBase, realDir)
	return filepath.ToSlash(rel), err
}

// maxSuggested is how many directories a message suggests.
const maxSuggested = 8

// moduleDirs lists directories of a package that hold configuration.
func moduleDirs(pkg *placed) []string {
	if pkg.tree == nil {
		return nil
	}
	var dirs []string
	seen := make(map[string]bool)
	for _, entry := range pkg.tree.Entries {
		dir := path.Dir(entry.Path)
		if !isConfigFile(entry.Path) || seen[dir] {
			continue
		}
		seen[dir] = true
		if len(dirs) == maxSuggested {
			return append(dirs, "...")
		}
		dirs = append(dirs, fmt.Sprintf("%q", dir))
	}
	return dirs
}

// isConfigFile reports whether stock tools would read the file as part of a
// module.
func isConfigFile(name string) bool { return configs.IsConfigFile(path.Base(name)) }
