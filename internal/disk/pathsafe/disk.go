package pathsafe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// OpenRoot is [os.OpenRoot] for a name that may be anything, such as a named pipe, on which an ordinary
// open waits forever. If it is not a directory, the error wraps syscall.ENOTDIR. Links are followed.
func OpenRoot(name string) (*os.Root, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	return os.OpenRoot(name)
}

// DirFS is [os.DirFS] without waiting for the other end of named pipes, and for names that need not be UTF-8.
func DirFS(dir string) fs.FS { return dirFS(dir) }

type dirFS string

func (d dirFS) Open(name string) (fs.File, error) {
	if !IsName(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := os.OpenFile(filepath.Join(string(d), filepath.FromSlash(name)), os.O_RDONLY|Nonblock, 0)
	if err != nil {
		return nil, err // not a nil *os.File in an interface
	}
	return f, nil
}

// IsName is [fs.ValidPath] for names that need not be UTF-8.
func IsName(name string) bool { return fs.ValidPath(strings.ToValidUTF8(name, "?")) }

// Real returns the absolute path without symbolic links.
func Real(name string) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(name)
}

// maxLinks limits the symbolic links in a path. Linux allows 40.
const maxLinks = 255

// Resolve returns a path without symbolic links. base must have none. A relative path stays relative to
// base, unless a link in it is absolute: stock tools use filepath.EvalSymlinks with base as the current
// directory.
func Resolve(base, name string) (string, error) {
	done, rest := splitVolume(filepath.Clean(name))
	for links := 0; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, string(filepath.Separator))
		next := filepath.Join(done, part)
		if part == "" || part == "." || part == ".." {
			done = next // done has no links, so ".." can be applied to its text
			continue
		}
		info, err := os.Lstat(Inside(base, next))
		if err != nil {
			return "", err
		}
		if info.Mode().Type() != os.ModeSymlink {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", &os.PathError{Op: "resolve", Path: name, Err: syscall.ELOOP}
		}
		target, err := os.Readlink(Inside(base, next))
		if err != nil {
			return "", err
		}
		target = filepath.FromSlash(target)
		if filepath.IsAbs(target) {
			done, target = splitVolume(target)
		}
		rest = target + string(filepath.Separator) + rest
	}
	return filepath.Clean(done), nil
}

// splitVolume splits an absolute path after its root, which is empty for others.
func splitVolume(name string) (root, rest string) {
	if !filepath.IsAbs(name) {
		return "", name
	}
	volume := filepath.VolumeName(name)
	return volume + string(filepath.Separator), name[len(volume):]
}

// Inside returns the path for this process of one that may be relative to base.
func Inside(base, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(base, name)
}

// OpenDir opens a directory of a project with the name of one component in root, whose path is dir. It refuses anything
// else, because a link could point out of the project, also if another process replaces the directory meanwhile.
func OpenDir(root *os.Root, dir, name string) (*os.Root, error) {
	notDir := fmt.Errorf("%s must be a directory, not a link or a file; remove it, or set TF_DATA_DIR to another directory", filepath.Join(dir, name))
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, InRoot(root, err)
	}
	if !seen.IsDir() {
		return nil, notDir
	}
	opened, err := root.OpenRoot(name) // follows a link within root
	if err != nil {
		return nil, InRoot(root, err)
	}
	if info, err := opened.Stat("."); err != nil || !os.SameFile(seen, info) {
		return nil, errors.Join(notDir, opened.Close())
	}
	return opened, nil
}

// InRoot puts the path of root before the name in an error about a file in it: the methods of os.Root know only the name,
// with which a user cannot find the file.
func InRoot(root *os.Root, err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path == filepath.Base(at.Path) {
		return &fs.PathError{Op: at.Op, Path: filepath.Join(root.Name(), at.Path), Err: at.Err}
	}
	return err
}

// SplitDirs splits the path of a directory for [OpenDirs] before its last n components. Fewer are below if the path is
// shorter, or has no names there.
func SplitDirs(dir string, n int) (base string, below []string) {
	for base = filepath.Clean(dir); n > 0; n-- {
		name := filepath.Base(base)
		if name == "." || name == ".." || filepath.Dir(base) == base {
			break
		}
		base, below = filepath.Dir(base), append([]string{name}, below...)
	}
	return base, below
}

// OpenDirs opens a directory below base by [OpenDir], one component after the other. base is resolved once, and may lead
// through links. prepare, which may be nil, is called before each component is opened, for example to create it.
func OpenDirs(base string, below []string, prepare func(root *os.Root, dir, name string) error) (*os.Root, error) {
	root, err := OpenRoot(base)
	if err != nil {
		return nil, err
	}
	opened, err := OpenBelow(root, base, below, prepare)
	return opened, errors.Join(err, root.Close())
}

// OpenBelow is [OpenDirs] below an open directory, whose path is base.
func OpenBelow(root *os.Root, base string, below []string, prepare func(root *os.Root, dir, name string) error) (*os.Root, error) {
	root, err := root.OpenRoot(".")
	for _, name := range below {
		if err != nil {
			return nil, err
		}
		outer := root
		if prepare != nil {
			err = InRoot(outer, prepare(outer, base, name))
		}
		if err == nil {
			root, err = OpenDir(outer, base, name)
		}
		if closeErr := outer.Close(); err == nil && closeErr != nil {
			err = errors.Join(closeErr, root.Close())
		}
		base = filepath.Join(base, name)
	}
	if err != nil {
		return nil, err
	}
	return root, nil
}

// MissingDirs are the missing directories of a path, outermost first.
func MissingDirs(dir string) (missing []string) {
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil {
			break
		}
		missing = append(missing, dir)
	}
	slices.Reverse(missing)
	return missing
}
