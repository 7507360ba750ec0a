package repofiles

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/pathsafe"
)

// Dir is a directory whose files may be opened, including those in directories below it.
type Dir struct {
	// path is the directory, and root is the root module's directory. Both are absolute and
	// without symbolic links.
	path, root string
	// linked is the highest directory in the root module's path, as the caller gave it, that is
	// inside path; target is the same directory without symbolic links. Absolute names may begin
	// with linked.
	linked, target string
	// none says that no file may be opened, and noDotFiles that names must not begin with a dot.
	none, noDotFiles bool
}

// Find returns the directory of the files that a root module may read. home is the user's home
// directory, in addition to the one that the operating system knows; it may be "". isUsable
// reports whether git would use a repository, whose top directory is an absolute path without
// symbolic links.
func Find(rootModule, home string, isUsable func(top string) bool) (*Dir, error) {
	named, err := filepath.Abs(rootModule)
	if err != nil {
		return nil, err
	}
	root, err := filepath.EvalSymlinks(named)
	if err != nil {
		return nil, err
	}
	homes := homesOf(home)
	d := &Dir{path: top(root), root: root, linked: named, target: root}
	if d.path == "" || holdsAny(d.path, homes) || !isUsable(d.path) {
		d.path = root
		d.noDotFiles = holdsAny(root, homes)
	}
	d.none = filepath.Dir(d.path) == d.path || slices.ContainsFunc(strings.Split(d.path, string(filepath.Separator)), pathsafe.IsVersionControl)
	for {
		above := filepath.Dir(d.linked)
		target, err := filepath.EvalSymlinks(above)
		if _, inside := below(d.path, target); err != nil || !inside || above == d.linked {
			return d, nil
		}
		d.linked, d.target = above, target
	}
}

// top returns the nearest directory with an entry named .git, at or above a directory. It returns
// "" if there is none.
func top(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}

// homesOf returns the home directories of the user: the given one, and the one that the
// operating system's list of users has. Programs may run with another HOME.
func homesOf(home string) []string {
	var homes []string
	if current, err := user.Current(); err == nil {
		homes = append(homes, current.HomeDir)
	}
	return slices.DeleteFunc(append(homes, home), func(dir string) bool { return !filepath.IsAbs(dir) })
}

// holdsAny reports whether dir is one of the other directories or above it.
func holdsAny(dir string, others []string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(others, func(other string) bool {
		resolved, err := filepath.EvalSymlinks(other)
		if err != nil {
			return false // it does not exist
		}
		for {
			if at, err := os.Stat(resolved); err == nil && os.SameFile(at, info) {
				return true
			}
			above := filepath.Dir(resolved)
			if above == resolved {
				return false
			}
			resolved = above
		}
	})
}

// below returns the path of a file relative to a directory that it is in. ok is false if it is
// outside. A directory is inside itself.
func below(dir, name string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, name)
	return rel, err == nil && filepath.IsLocal(rel)
}
