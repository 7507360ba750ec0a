// Package moduledir finds the directories of modules: in the packages that they are part
// of, and among the user's own files.
package moduledir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/opendir"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/pkgtree"
)

// Package is a package on disk.
type Package struct {
	// Path is where its files are.
	Path string
	// Tree is nil if the package was not read.
	Tree *pkgtree.Tree
	// Gitlinks are the submodules that were left out, and LeftOut the links that are not
	// part of the package, if they are to be checked.
	Gitlinks []string
	LeftOut  []getmodules.Link
}

// Check returns an error unless a module can be in a directory of the package; "" is the
// package's root. Links are resolved, and may not leave the package.
func (p Package) Check(subdir string) error {
	if err := p.checkSubmodules(subdir); err != nil {
		return err
	}
	if err := p.checkLinks(subdir); err != nil {
		return err
	}
	root, err := opendir.Root(p.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Stat(cmp.Or(filepath.FromSlash(subdir), "."))
	if err != nil || !info.IsDir() {
		return p.noSubdir(subdir, err)
	}
	return nil
}

// Actual returns a directory of the package without links.
func (p Package) Actual(subdir string) (string, error) {
	base, err := absolute(p.Path)
	if err != nil {
		return "", err
	}
	dir, err := absolute(filepath.Join(p.Path, subdir))
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(base, dir)
	return filepath.ToSlash(rel), err
}

// absolute returns the absolute path of a file without links.
func absolute(name string) (string, error) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

// checkSubmodules refuses a directory whose own files are in a git submodule that
// was not fetched.
func (p Package) checkSubmodules(subdir string) error {
	for _, link := range p.Gitlinks {
		if pathsafe.Within(link, subdir) || pathsafe.Within(subdir, link) {
			return &getmodules.SubmoduleError{Path: link}
		}
	}
	return nil
}

// checkLinks refuses a directory to which a link points, or from which a link
// points, that was left out of the package. For a module at the package's root only
// links right in that directory count: below it are directories that the module
// does not need, such as examples.
func (p Package) checkLinks(subdir string) error {
	if len(p.LeftOut) == 0 {
		return nil
	}
	dirs := []string{subdir}
	if actual, err := p.Actual(subdir); err == nil {
		dirs = append(dirs, strings.TrimPrefix(actual, "."))
	} // else Check reports what is wrong
	for _, link := range p.LeftOut {
		for _, dir := range dirs {
			if pathsafe.Within(link.Path, dir) || pathsafe.Within(dir, link.Path) || dir == "" && path.Dir(link.Path) == "." {
				return fmt.Errorf("%w: the symbolic link %s", getmodules.ErrUnsafeEntry, link)
			}
		}
	}
	return nil
}

// noSubdir names the directories of the package that do hold configuration: most
// often the wanted one was renamed.
func (p Package) noSubdir(subdir string, cause error) error {
	if cause == nil {
		cause = errors.New("it is a file")
	}
	if errors.Is(cause, fs.ErrNotExist) {
		cause = errors.New("the package has no such directory")
	}
	err := fmt.Errorf("%w: %q: %w", pkgtree.ErrNoSubdir, subdir, cause)
	if dirs := p.moduleDirs(); len(dirs) > 0 {
		err = fmt.Errorf("%w; it has modules in %s", err, strings.Join(dirs, ", "))
	}
	return err
}

// maxSuggested is how many directories a message suggests.
const maxSuggested = 8

// moduleDirs lists directories of the package that hold configuration.
func (p Package) moduleDirs() []string {
	if p.Tree == nil {
		return nil
	}
	var dirs []string
	seen := make(map[string]bool)
	for _, entry := range p.Tree.Entries {
		dir := path.Dir(entry.Path)
		if !configs.IsConfigFile(path.Base(entry.Path)) || seen[dir] {
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
