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

// RefuseLink refuses anything but a directory at a path in a project: a link could point out of it.
func RefuseLink(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s must be a directory, not a link or a file; remove it, or set TF_DATA_DIR to another directory", dir)
	}
	return nil
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
