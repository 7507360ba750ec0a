package cotter

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

// links makes symbolic links. Those with one target are one link with many
// names, where the system has that: a hundred calls of one package have ten
// thousand links between them, each of which would take an inode of its own.
// A link cannot be written to, so there is nothing that could leak from one call
// to another.
type links struct {
	made sync.Map // from a target to the path of a link with it
}

func (l *links) add(target, path string) error {
	// Elsewhere than on Linux a name for a link may become one for its target.
	if first, ok := l.made.Load(target); ok && runtime.GOOS == "linux" && os.Link(first.(string), path) == nil {
		return nil
	}
	if err := os.Symlink(target, path); err != nil {
		return err
	}
	l.made.Store(target, path)
	return nil
}

// maxLinks is how many symbolic links a path may go through. Linux allows 40.
const maxLinks = 255

// resolveLinks returns the path without symbolic links. A path relative to base,
// which must have none itself, stays relative unless a link in it is absolute:
// that is what filepath.EvalSymlinks does in a process whose current directory
// is base, as stock tools use it.
func resolveLinks(base, name string) (string, error) {
	done, rest := splitVolume(filepath.Clean(name))
	for links := 0; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, string(filepath.Separator))
		next := filepath.Join(done, part)
		if part == "" || part == "." || part == ".." {
			done = next // done has no links, so its parent is the one that its text says
			continue
		}
		info, err := os.Lstat(inside(base, next))
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
		target, err := os.Readlink(inside(base, next))
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

// inside is the path as it is reached from base.
func inside(base, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(base, name)
}
