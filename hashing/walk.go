package hashing

import (
	"io/fs"
	"path"
	"path/filepath"
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

// dir adds what is in a directory and reports whether that is anything.
func (w *walker) dir(dir string) (empty bool, err error) {
	list, err := fs.ReadDir(w.fsys, dir)
	if err != nil {
		return false, &TreeError{Path: dir, Err: err}
	}
	empty = true
	for _, child := range list {
		if isMetadata(child.Name()) {
			continue
		}
		empty = false
		if err := w.child(path.Join(dir, child.Name()), child.Type()); err != nil {
			return false, err
		}
	}
	return empty, nil
}

// child adds what has a path. It opens directories only.
func (w *walker) child(name string, mode fs.FileMode) error {
	if err := checkText(name); err != nil {
		return &TreeError{Path: name, Err: err}
	}
	switch {
	case mode.IsDir():
		empty, err := w.dir(name)
		if err != nil || !empty {
			return err
		}
		return w.add(Entry{Path: name, Kind: EmptyDir})
	case mode.IsRegular():
		return w.add(Entry{Path: name, Kind: File})
	case mode.Type() == fs.ModeSymlink:
		target, err := fs.ReadLink(w.fsys, name)
		if err != nil {
			return &TreeError{Path: name, Err: err}
		}
		// Links on Windows have backslashes, whoever made them.
		return w.link(name, filepath.ToSlash(target))
	}
	return &TreeError{Path: name, Err: errIrregular}
}

// link adds a link, or notes what it stands for.
func (w *walker) link(name, target string) error {
	if w.whole != nil {
		if tree := w.whole(name, target); tree != nil {
			if part := tree.Part(name); len(part) > 0 {
				w.linked = append(w.linked, linkedPart{tree, part})
				return w.grow(name, len(part))
			}
		}
	}
	return w.add(Entry{Path: name, Kind: Link, Target: target})
}

func (w *walker) add(e Entry) error {
	w.entries = append(w.entries, e)
	return w.grow(e.Path, 1)
}

func (w *walker) grow(name string, by int) error {
	if w.count += by; w.count > maxEntries {
		return &TreeError{Path: name, Err: errTooMany}
	}
	return nil
}
