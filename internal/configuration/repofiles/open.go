package repofiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/git/gitdir"
)

// Dir is a directory whose files, at any depth, may be opened.
type Dir struct {
	// Both are absolute and without symbolic links. root is the root module's directory.
	path, root string
	// repository is the directory of the nearest .git, or "". Unless it counts, path is the root module's
	// directory.
	repository string
	counts     bool
	// linked is the highest directory in the root module's path, as the caller gave it, that is inside
	// path: absolute names may begin with it. target is the same without symbolic links.
	linked, target string
	// noDotFiles says that names must not begin with a dot.
	none, noDotFiles bool
}

// Find returns the directory of the files that a root module may read: its git repository, or the root
// module's own directory if git would not use the repository, or if that has the home directory in it, as one
// of dotfiles does. home may be ""; the directory that the operating system knows counts too.
func Find(rootModule, home string) (*Dir, error) { return find(rootModule, home, isUsable) }

func find(rootModule, home string, isUsable func(top string) bool) (*Dir, error) {
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
	d.repository = d.path
	d.counts = d.path != "" && !holdsAny(d.path, homes) && isUsable(d.path)
	if !d.counts {
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

// top returns the nearest directory with an entry named .git, at or above a directory, or "".
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

// isUsable reports whether git would use the repository in a directory. If .git is not what git expects,
// its owner counts all the same.
func isUsable(top string) bool {
	repo, err := gitdir.Find(top)
	if err != nil || repo.Top != top {
		repo = gitdir.Repository{Top: top, GitDir: filepath.Join(top, ".git")}
	}
	return gitdir.Check(repo, nil) == nil
}

// homesOf adds the directory in the operating system's list of users: programs may run with another HOME.
func homesOf(home string) []string {
	var homes []string
	if current, err := user.Current(); err == nil {
		homes = append(homes, current.HomeDir)
	}
	return slices.DeleteFunc(append(homes, home), func(dir string) bool { return !filepath.IsAbs(dir) })
}

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

// Has reports whether a file or directory is in the directory, by whatever name: links are followed, and what is mounted
// elsewhere counts too. A home directory, or that of a whole system, has nothing in this sense.
func (d *Dir) Has(name string) bool {
	return !d.noDotFiles && filepath.Dir(d.path) != d.path && holdsAny(d.path, []string{name})
}

// below returns the path of a file in a directory. A directory is inside itself.
func below(dir, name string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, name)
	return rel, err == nil && filepath.IsLocal(rel)
}

const separator = string(filepath.Separator)

// maxLinks limits the symbolic links in a path, as on Linux.
const maxLinks = 40

var ErrNotRegular = errors.New("it is not a regular file")

var errChanged = errors.New("it was replaced while it was opened")

// Open opens a regular file or a directory for reading. The name is absolute, or relative to the root module. Links are
// followed one component at a time, and nothing outside of the directory is looked at, so the result does
// not depend on what exists there. Metadata of version control, where checkouts keep tokens, is refused in
// any spelling. Each directory on the way is held open and compared with the entry that was checked, so
// replacing it by a link at the same time does not help.
//
// The error is a [*config.FileReadError] if the file may not be opened, or wraps fs.ErrNotExist or
// [ErrNotRegular].
func (d *Dir) Open(name string) (*os.File, error) {
	f, _, err := d.open(name, false)
	return f, err
}

// Lists reports whether a listing may have an entry of this name, of which Open would otherwise be refused.
func (d *Dir) Lists(entry string) bool {
	return !pathsafe.IsVersionControl(entry) && !(d.noDotFiles && isHidden(entry))
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") }

// open also returns the number of links that were followed. locks is as in walk.
func (d *Dir) open(name string, locks bool) (f *os.File, links int, err error) {
	w := &walk{dir: d, name: name, noDotFiles: d.noDotFiles, locks: locks}
	rel, inside := d.rel(filepath.FromSlash(name))
	if !inside || d.none {
		return nil, 0, w.outside()
	}
	f, err = w.from(d.path, rel)
	return f, w.links, err
}

// rel returns the path of a name relative to the directory, without following links.
func (d *Dir) rel(name string) (rel string, inside bool) {
	if !filepath.IsAbs(name) {
		return below(d.path, filepath.Join(d.root, name))
	}
	if rel, inside = below(d.path, name); inside {
		return rel, true
	}
	if rel, inside = below(d.linked, name); inside {
		return below(d.path, filepath.Join(d.target, rel))
	}
	return "", false
}

type walk struct {
	dir *Dir
	// noDotFiles says that names must not begin with a dot, and noLinks that no link may be followed. locks
	// allows the names of locks all the same: of those, only the first lines of blocks are shown.
	noDotFiles, noLinks, locks bool
	name                       string // in the configuration
	// held are the open directories from the top to the current one.
	held  []*os.Root
	links int
}

func (w *walk) from(dir, rel string) (*os.File, error) {
	defer w.leave(0)
	top, err := pathsafe.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	w.held = append(w.held, top)
	return w.open(rel)
}

func (w *walk) leave(n int) {
	for len(w.held) > n {
		_ = w.held[len(w.held)-1].Close() // nothing was written
		w.held = w.held[:len(w.held)-1]
	}
}

func (w *walk) open(path string) (*os.File, error) {
	for path != "" {
		var part string
		part, path, _ = strings.Cut(path, separator)
		switch part {
		case "", ".":
			continue
		case "..":
			if len(w.held) == 1 {
				return nil, w.outside()
			}
			w.leave(len(w.held) - 1)
			continue
		}
		info, err := w.lstat(part)
		switch {
		case err != nil:
			return nil, err
		case info.Mode().Type() == fs.ModeSymlink:
			path, err = w.follow(part, path)
		case info.IsDir():
			err = w.enter(part, info)
		case path != "":
			err = &fs.PathError{Op: "open", Path: w.name, Err: syscall.ENOTDIR}
		case info.Mode().IsRegular():
			return w.openFile(part, info)
		default:
			err = ErrNotRegular
		}
		if err != nil {
			return nil, err
		}
	}
	return w.held[len(w.held)-1].Open(".")
}

// lstat checks the name of an entry of the current directory.
func (w *walk) lstat(part string) (fs.FileInfo, error) {
	if pathsafe.IsVersionControl(part) {
		return nil, w.metadata()
	}
	if w.noDotFiles && isHidden(part) && !(w.locks && strings.HasSuffix(part, ".lock.hcl")) {
		return nil, w.refuse(fmt.Sprintf("its name or that of its directory begins with a dot, and %q is or has the home directory", w.dir.path))
	}
	at := w.held[len(w.held)-1]
	info, err := at.Lstat(part)
	if err != nil {
		return nil, err
	}
	// Some file systems know .git by further names, such as short names.
	if git, err := at.Lstat(".git"); err == nil && os.SameFile(git, info) {
		return nil, w.metadata()
	}
	return info, nil
}

func (w *walk) follow(link, rest string) (string, error) {
	if w.links++; w.noLinks {
		return "", w.outside()
	}
	if w.links > maxLinks {
		return "", &fs.PathError{Op: "open", Path: w.name, Err: syscall.ELOOP}
	}
	target, err := w.held[len(w.held)-1].Readlink(link)
	if err != nil {
		return "", err
	}
	target = filepath.FromSlash(target)
	if filepath.IsAbs(target) {
		var inside bool
		if target, inside = w.dir.rel(target); !inside {
			return "", w.outside()
		}
		w.leave(1)
	}
	if rest == "" {
		return target, nil
	}
	return target + separator + rest, nil
}

func (w *walk) enter(part string, info fs.FileInfo) error {
	next, err := w.held[len(w.held)-1].OpenRoot(part)
	if err != nil {
		return err
	}
	w.held = append(w.held, next)
	opened, err := next.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(info, opened) {
		return errChanged
	}
	if isRepository(next) {
		return w.metadata()
	}
	return nil
}

// isRepository uses git's own signs of bare repositories and of "git init --separate-git-dir".
func isRepository(dir *os.Root) bool {
	has := func(name string) bool {
		_, err := dir.Lstat(name)
		return err == nil
	}
	return has("HEAD") && (has("objects") && has("refs") || has("commondir"))
}

func (w *walk) openFile(part string, info fs.FileInfo) (*os.File, error) {
	f, err := w.held[len(w.held)-1].OpenFile(part, os.O_RDONLY|pathsafe.Nonblock, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(info, opened) {
		err = errChanged
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

func (w *walk) outside() error {
	what := "it is"
	if w.links > 0 {
		what = "a symbolic link points"
	}
	switch {
	case w.dir.none:
		return w.refuse(fmt.Sprintf("a configuration in %q can read no files", w.dir.root))
	case w.dir.path == w.dir.root:
		return w.refuse(fmt.Sprintf("%s outside of %q, the directory of the root module", what, w.dir.path))
	}
	return w.refuse(fmt.Sprintf("%s outside of %q, the repository of the root module", what, w.dir.path))
}

func (w *walk) metadata() error {
	return w.refuse("it is in the metadata of version control, which may contain credentials")
}

func (w *walk) refuse(reason string) error {
	allowed := w.dir.path
	if w.dir.none {
		allowed = ""
	}
	return &config.FileReadError{Path: w.name, Allowed: allowed, Reason: reason}
}
