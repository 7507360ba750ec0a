package packagedir

import (
	"fmt"
	"path"
	"strings"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/store"
)

type Package struct {
	Files *project.Files
	// Tree is nil if the package was not read.
	Tree *store.Tree
	// Gitlinks are unfetched submodules, LeftOut links that are not part of the package; empty if they need
	// no check.
	Gitlinks []string
	LeftOut  []getmodules.Link
}

// Check returns an error unless a module can be in the subdirectory; "" is the root. Links are followed
// within the package.
func (p Package) Check(subdir string) error {
	if err := p.checkSubmodules(subdir); err != nil {
		return err
	}
	if err := p.checkLinks(subdir); err != nil {
		return err
	}
	err := p.Files.CheckDir(subdir)
	if dirs := p.moduleDirs(); err != nil && len(dirs) > 0 { // usually the wanted one was renamed
		err = fmt.Errorf("%w; it has modules in %s", err, strings.Join(dirs, ", "))
	}
	return err
}

func (p Package) checkSubmodules(subdir string) error {
	for _, link := range p.Gitlinks {
		if pathsafe.Within(link, subdir) || pathsafe.Within(subdir, link) {
			return &getmodules.SubmoduleError{Path: link}
		}
	}
	return nil
}

// checkLinks refuses a directory that is at or below an omitted link, and one in which such a link has the name of a
// configuration file, of tofu or terraform. Tools read nothing else of a module, so other links do no harm.
func (p Package) checkLinks(subdir string) error {
	if len(p.LeftOut) == 0 {
		return nil
	}
	dirs := []string{subdir}
	if actual, err := p.Files.Real(path.Clean(subdir)); err == nil {
		dirs = append(dirs, pathsafe.CleanSubdir(actual))
	} // otherwise Check reports the error
	for _, link := range p.LeftOut {
		for _, dir := range dirs {
			isRead := pathsafe.CleanSubdir(path.Dir(link.Path)) == dir && configread.IsConfigFile(path.Base(link.Path))
			if isRead || pathsafe.Within(dir, link.Path) {
				return fmt.Errorf("%w: the symbolic link %s", getmodules.ErrUnsafeEntry, link)
			}
		}
	}
	return nil
}

const maxSuggested = 8

func (p Package) moduleDirs() []string {
	if p.Tree == nil {
		return nil
	}
	var dirs []string
	seen := make(map[string]bool)
	for _, entry := range p.Tree.Entries {
		dir := path.Dir(entry.Path)
		if !configread.IsConfigFile(path.Base(entry.Path)) || seen[dir] {
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
