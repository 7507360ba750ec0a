package hashing

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// walk lists what a file system holds, sorted by path. The files' sums, sizes
// and kinds are still to be found.
func walk(fsys fs.FS, part PartFunc) ([]Entry, error) {
	w := walker{fsys: fsys, part: part}
	if _, err := w.dir("."); err != nil {
		return nil, err
	}
	// A walk sees "a" and all below it before "a.b", which sorts before "a/".
	slices.SortFunc(w.entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return w.entries, nil
}

type walker struct {
	fsys    fs.FS
	part    PartFunc // nil for none
	entries []Entry
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

// link adds a link, or what it stands for.
func (w *walker) link(name, target string) error {
	if w.part != nil {
		if entries, ok := w.part(name, target); ok {
			for _, e := range entries {
				if err := w.add(e); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return w.add(Entry{Path: name, Kind: Link, Target: target})
}

func (w *walker) add(e Entry) error {
	if len(w.entries) == maxEntries {
		return &TreeError{Path: e.Path, Err: errTooMany}
	}
	w.entries = append(w.entries, e)
	return nil
}
