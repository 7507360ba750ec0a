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

// inSubdir sets the subdirectory that a page points to, relative to the subdirectory that pkg
// may already have. The subdirectory becomes the package, so links that point out of it are
// left out too.
func inSubdir(dir, subdir string, pkg *Package) (*Package, error) {
	subdir, err := addrs.JoinSubdir(pkg.Subdir, subdir)
	if err != nil {
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

// findSubdir returns the path of a subdirectory in a fetched tree. subdir may be a pattern,
// which must match exactly one directory. Patterns are useful because forges name the directory
// in their archives after the commit.
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
		return "", fmt.Errorf("the subdirectory %q to which the page points matches %d directories of the package instead of one", subdir, len(matches))
	}
	info, err := root.Stat(matches[0])
	if err != nil {
		return "", fmt.Errorf("the subdirectory to which the page points: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%q, to which the page points, is not a directory", matches[0])
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
