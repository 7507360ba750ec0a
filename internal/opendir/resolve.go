package opendir

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many symbolic links a path may go through. Linux allows 40.
const maxLinks = 255

// Resolve returns a path without symbolic links. A path relative to base, which must
// have none itself, stays relative unless a link in it is absolute: that is what
// filepath.EvalSymlinks does in a process whose current directory is base, as stock
// tools use it.
func Resolve(base, name string) (string, error) {
	done, rest := splitVolume(filepath.Clean(name))
	for links := 0; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, string(filepath.Separator))
		next := filepath.Join(done, part)
		if part == "" || part == "." || part == ".." {
			done = next // done has no links, so its parent is the one that its text says
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

// splitVolume splits an absolute path behind its root; that of a relative one is
// empty.
func splitVolume(name string) (root, rest string) {
	if !filepath.IsAbs(name) {
		return "", name
	}
	volume := filepath.VolumeName(name)
	return volume + string(filepath.Separator), name[len(volume):]
}

// Inside returns a path that may be relative to base as it is reached from the
// current directory.
func Inside(base, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(base, name)
}
