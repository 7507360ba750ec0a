package getmodules

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/treewriter"
)

// inSubdir completes a package to which a page led: with the subdirectory that
// is meant, below the one that pkg may have by itself. The subdirectory becomes
// the package, so links that lead out of it are left out too.
func inSubdir(dir, subdir string, pkg *Package, err error) (*Package, error) {
	if err != nil {
		return nil, err
	}
	if subdir, err = addrs.JoinSubdir(pkg.Subdir, subdir); err != nil {
		return nil, err
	}
	if subdir == "" || subdir == "." {
		pkg.Subdir = ""
		return pkg, nil
	}
	if pkg.Subdir, err = findSubdir(dir, subdir); err != nil {
		return nil, err
	}
	pruned, err := treewriter.PruneLinks(filepath.Join(dir, filepath.FromSlash(pkg.Subdir)))
	if err != nil {
		return nil, err
	}
	pkg.Warnings = append(pkg.Warnings, pruned.Warnings()...)
	for _, link := range leftOut(pruned) {
		link.Path = path.Join(pkg.Subdir, link.Path)
		pkg.LeftOut = append(pkg.LeftOut, link)
	}
	sortLinks(pkg.LeftOut)
	return pkg, nil
}

// findSubdir is a subdirectory of a fetched tree. It may be a pattern, which
// must match exactly one directory: forges name the one in their archives after
// the commit.
func findSubdir(dir, subdir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	matches := []string{subdir}
	if strings.ContainsAny(subdir, `*?[\`) {
		if matches, err = globDirs(root.FS(), subdir); err != nil {
			return "", err
		}
	}
	if len(matches) != 1 {
		return "", fmt.Errorf("the subdirectory %q to which the server leads matches %d directories of the package, not one", subdir, len(matches))
	}
	info, err := root.Stat(matches[0])
	if err != nil {
		return "", fmt.Errorf("the subdirectory to which the server leads: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%q, to which the server leads, is not a directory", matches[0])
	}
	return matches[0], nil
}

func globDirs(fsys fs.FS, pattern string) ([]string, error) {
	all, err := fs.Glob(fsys, pattern)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, name := range all {
		if info, err := fs.Stat(fsys, name); err == nil && info.IsDir() {
			dirs = append(dirs, name)
		}
	}
	return dirs, nil
}
