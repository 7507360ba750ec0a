package pathsafe

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// ExposedError says that another user owns, or can write to, a directory on a path, and can exchange what
// is below.
type ExposedError struct {
	// Paths are as given to [CheckOwners].
	Paths []string
	// Dirs expose the paths, without symbolic links.
	Dirs []ExposedDir
}

// ExposedDir is a directory, or a symbolic link, on the path to another one.
type ExposedDir struct {
	Path string
	// Foreign says that Owner is neither the user of the process nor root. Otherwise the problem is Mode:
	// other users can write to the directory.
	Owner   int
	Foreign bool
	Mode    fs.FileMode
}

func (e *ExposedError) Error() string {
	return fmt.Sprintf("other users can exchange what is in %s: %s", strings.Join(e.Paths, " and in "), e.Reason())
}

func (e *ExposedError) Reason() string {
	var written, reasons []string
	for _, dir := range e.Dirs {
		if dir.Foreign {
			reasons = append(reasons, fmt.Sprintf("%s belongs to another user (%d)", dir.Path, dir.Owner))
		} else {
			written = append(written, dir.Path)
		}
	}
	if len(written) > 0 {
		reasons = append(reasons, "other users can write to "+strings.Join(written, ", "))
	}
	return strings.Join(reasons, ", and ")
}

// CheckOwners returns an *[ExposedError] if another user can exchange what is in one of the directories, so
// that a name below would not mean what it meant when it was checked. Each directory from the root on, also
// on the path of the target of a symbolic link, must comply with these rules:
//
//   - It belongs to the user of the process, or to root.
//   - No other user can write to it. The group of the user (if both have the same number, as private
//     groups do) and the group 0 are not others. The mode does not matter below a directory that
//     others cannot enter.
//   - A directory above the given one may be writable if it is sticky, as /tmp is. There, others
//     cannot exchange what is not theirs.
//
// A missing directory is fine if those above it are. Empty names are ignored. On Windows, the user's
// profile protects directories, and nothing is checked.
func CheckOwners(dirs ...string) error {
	e := &ExposedError{}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		found, err := exposing(dir)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			continue
		}
		e.Paths = append(e.Paths, dir)
		for _, d := range found {
			if !slices.ContainsFunc(e.Dirs, func(other ExposedDir) bool { return other.Path == d.Path }) {
				e.Dirs = append(e.Dirs, d)
			}
		}
	}
	if len(e.Paths) == 0 {
		return nil
	}
	return e
}

// MkdirTemp creates a private directory in the first of the parents (without empty names), the directory
// for temporary files, and /tmp, in which other users cannot exchange it. If all are exposed, the error is
// the *[ExposedError] of the first. The path is absolute.
func MkdirTemp(prefix string, parents ...string) (string, error) {
	var exposed error
	for _, parent := range append(parents[:len(parents):len(parents)], os.TempDir(), "/tmp") {
		if parent == "" {
			continue
		}
		parent, err := filepath.Abs(parent)
		if err != nil {
			return "", err
		}
		// The name is never used. The directory above it may be sticky.
		if err := CheckOwners(filepath.Join(parent, prefix)); err == nil {
			return os.MkdirTemp(parent, prefix)
		} else if exposed == nil {
			exposed = err
		}
	}
	return "", exposed
}

// exposing returns what exposes a directory, from the root on. An error of the system that hides the rest
// of the path ends the walk: nobody can use that directory.
func exposing(dir string) (found []ExposedDir, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil || !hasOwners {
		return nil, err
	}
	at, rest := splitVolume(filepath.Clean(dir))
	closed := false // others cannot enter a directory above
	visit := func(info fs.FileInfo, last bool) {
		d, others := exposedDir(at, info)
		if d.Foreign || !closed && others.write && (last || d.Mode&fs.ModeSticky == 0) {
			found = append(found, d)
		}
		closed = closed || info.IsDir() && !d.Foreign && !others.enter
	}
	for links := 0; ; {
		info, err := os.Lstat(at)
		if err != nil {
			return found, nil //nolint:nilerr // it does not exist, or cannot be used
		}
		rest = strings.Trim(rest, string(filepath.Separator))
		if info.Mode().Type() == os.ModeSymlink {
			visit(info, false)
			if links++; links > maxLinks {
				return nil, &fs.PathError{Op: "resolve", Path: dir, Err: syscall.ELOOP}
			}
			target, err := os.Readlink(at)
			if err != nil {
				return nil, err
			}
			if !filepath.IsAbs(target) {
				// The link's directory has no links, so the text can be joined. A ".." in the target may
				// follow a link, so it must not be cleaned.
				target = filepath.Dir(at) + string(filepath.Separator) + target
			}
			at, rest = splitVolume(target + string(filepath.Separator) + rest)
			closed = false
			continue
		}
		visit(info, rest == "")
		if rest == "" {
			return found, nil
		}
		var part string
		part, rest, _ = strings.Cut(rest, string(filepath.Separator))
		if part == ".." {
			closed = false
		}
		at = filepath.Join(at, part)
	}
}

// access is that of other users to a directory.
type access struct{ write, enter bool }
