package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// Files is where the files of one package are for reading, whatever its layout. All that read a package take
// it as an [fs.FS], in which links lead only to files of the package. Opening a named pipe does not wait
// for the other end. It is safe for concurrent use.
type Files struct {
	path  string
	trees string // the directory of shared trees; "" if the package cannot have links into one

	mu      sync.Mutex
	root    *os.Root // open while somebody holds the files
	holders int
}

// FilesIn are the files of a package that is in one directory as a whole, which need not exist.
func FilesIn(path string) *Files { return &Files{path: path} }

// Files are the files of a call's package in the modules directory. Links that [TreeLink] makes are followed
// into the shared tree, which links in the package's own directories may reach in this way.
func (p *Project) Files(key string) *Files {
	return &Files{path: filepath.Join(p.path, key), trees: filepath.Join(p.path, filepath.FromSlash(treesName))}
}

// Path is that of the package's directory, which may have links into a shared tree.
func (f *Files) Path() string { return f.path }

// Hold keeps the package's directory open until release, for a caller that opens many files.
func (f *Files) Hold() (release func()) {
	_, release, err := f.hold()
	if err != nil {
		return func() {} // Open returns the error
	}
	return release
}

func (f *Files) hold() (root *os.Root, release func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.root == nil {
		if f.root, err = pathsafe.OpenRoot(f.path); err != nil {
			return nil, nil, err
		}
	}
	f.holders++
	return f.root, f.release, nil
}

func (f *Files) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.holders--; f.holders == 0 {
		_ = f.root.Close() // nothing was written
		f.root = nil
	}
}

// Open implements [fs.FS]. Names need not be UTF-8.
func (f *Files) Open(name string) (fs.File, error) {
	if !pathsafe.IsName(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	root, release, err := f.hold()
	if err != nil {
		return nil, err
	}
	defer release()
	file, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|pathsafe.Nonblock, 0)
	if err == nil || f.trees == "" {
		return fileOf(file, err)
	}
	w := walk{files: f, root: root}
	defer w.close()
	if real, walkErr := w.walk(name); walkErr == nil && w.tree != nil {
		return fileOf(w.tree.OpenFile(filepath.FromSlash(real), os.O_RDONLY|pathsafe.Nonblock, 0))
	}
	return nil, err
}

func fileOf(file *os.File, err error) (fs.File, error) {
	if err != nil {
		return nil, err // not a nil *os.File in an interface
	}
	return file, nil
}

// Real returns the path of a file or directory in the package with all links resolved, or an error if it does
// not exist or links lead out of the package.
func (f *Files) Real(name string) (string, error) {
	if !pathsafe.IsName(name) {
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	root, release, err := f.hold()
	if err != nil {
		return "", err
	}
	defer release()
	w := walk{files: f, root: root}
	defer w.close()
	return w.walk(name)
}

// CheckDir returns an error that wraps [config.ErrNoSubdir] unless the package has a directory; "" is the root. Links
// are followed within the package.
func (f *Files) CheckDir(subdir string) error {
	info, err := fs.Stat(f, path.Clean(subdir))
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		err = errors.New("it is a file")
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("the package has no such directory")
	}
	return fmt.Errorf("%w: %q: %w", config.ErrNoSubdir, subdir, err)
}

// walk resolves one path. It goes from the package's directory into at most one shared tree, where the
// package has the same paths, and never back: links in a tree are those of the package.
type walk struct {
	files *Files
	root  *os.Root
	tree  *os.Root // nil before the path has reached a shared tree
}

func (w *walk) close() {
	if w.tree != nil {
		_ = w.tree.Close() // nothing was written
	}
}

// maxLinks limits the symbolic links in a path. Linux allows 40.
const maxLinks = 255

var errOutside = errors.New("a symbolic link leads out of the package")

func (w *walk) walk(name string) (string, error) {
	done, rest := ".", name
	fail := func(err error) (string, error) { return "", &fs.PathError{Op: "open", Path: name, Err: err} }
	for links := 0; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		switch part {
		case "", ".":
			continue
		case "..":
			if done == "." {
				return fail(errOutside)
			}
			done = path.Dir(done) // done has no links, so ".." can be applied to its text
			continue
		}
		next := path.Join(done, part)
		info, err := w.at().Lstat(filepath.FromSlash(next))
		if err != nil {
			return "", err
		}
		if info.Mode().Type() != fs.ModeSymlink {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return fail(syscall.ELOOP)
		}
		target, err := w.at().Readlink(filepath.FromSlash(next))
		if err != nil {
			return "", err
		}
		target = filepath.ToSlash(target)
		switch tree := LinkedTree(target, next); {
		case tree != "" && w.tree == nil && w.files.trees != "":
			if err := w.enter(tree); err != nil {
				return "", err
			}
			rest = part + "/" + rest // at the same place in the tree, where it may be a link too
		case path.IsAbs(target) || filepath.IsAbs(target):
			return fail(errOutside)
		default:
			rest = target + "/" + rest
		}
	}
	return done, nil
}

func (w *walk) at() *os.Root {
	if w.tree != nil {
		return w.tree
	}
	return w.root
}

func (w *walk) enter(tree string) error {
	name := filepath.Join(w.files.trees, tree)
	info, err := os.Lstat(name)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	if err == nil {
		w.tree, err = os.OpenRoot(name)
	}
	return err
}
