package hashing

import (
	"io/fs"
	"path"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/pathsafe"
)

// walker lists what a file system holds. The files' sums, sizes and kinds are
// still to be found.
type walker struct {
	fsys    fs.FS
	whole   WholeFunc // nil for none
	entries []Entry
	linked  []linkedPart
	count   int // of the entries, those of linked parts included
}

// walk lists everything, sorted by path.
func (w *walker) walk() error {
	if _, err := w.dir("."); err != nil {
		return err
	}
	sortEntries(w.entries)
	return nil
}

// dir adds what is in a directory and below it, and reports whether that is
// nothing. What is below comes last, so that one directory at a time is open.
func (w *walker) dir(dir string) (empty bool, err error) {
	names, subdirs, err := w.children(dir)
	if err != nil {
		return false, err
	}
	for _, name := range subdirs {
		empty, err := w.dir(name)
		if err != nil {
			return false, err
		}
		if !empty {
			continue
		}
		if err := w.add(Entry{Path: name, Kind: EmptyDir}); err != nil {
			return false, &TreeError{Path: name, Err: err}
		}
	}
	return names == 0, nil
}

// children adds what is in a directory, and returns how much that is and which
// of it are directories.
func (w *walker) children(dir string) (names int, subdirs []string, err error) {
	at, err := top(w.fsys).open(dir)
	if err != nil {
		return 0, nil, &TreeError{Path: dir, Err: err}
	}
	defer at.close()
	list, err := at.list()
	if err != nil {
		return 0, nil, &TreeError{Path: dir, Err: err}
	}
	for _, child := range list {
		if pathsafe.IsMetadata(child.Name()) {
			continue
		}
		names++
		name := path.Join(dir, child.Name())
		err := checkText(name)
		switch mode := child.Type(); {
		case err != nil:
		case mode.IsDir():
			subdirs = append(subdirs, name)
		case mode.IsRegular():
			err = w.add(Entry{Path: name, Kind: File})
		case mode.Type() == fs.ModeSymlink:
			err = w.link(at, name, child)
		default:
			err = errIrregular
		}
		if err != nil {
			return 0, nil, &TreeError{Path: name, Err: err}
		}
	}
	return names, subdirs, nil
}

// link adds a link, or notes what it stands for.
func (w *walker) link(at directory, name string, child fs.DirEntry) error {
	target, err := at.target(child)
	if err != nil {
		return err
	}
	target = filepath.ToSlash(target) // links on Windows have backslashes, whoever made them
	if w.whole != nil {
		if tree := w.whole(name, target); tree != nil {
			if part := tree.Part(name); len(part) > 0 {
				w.linked = append(w.linked, linkedPart{tree, part})
				return w.grow(len(part))
			}
		}
	}
	return w.add(Entry{Path: name, Kind: Link, Target: target})
}

func (w *walker) add(e Entry) error {
	w.entries = append(w.entries, e)
	return w.grow(1)
}

func (w *walker) grow(by int) error {
	if w.count += by; w.count > maxEntries {
		return errTooMany
	}
	return nil
}
