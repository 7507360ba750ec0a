package hashing

import (
	"io/fs"
	"slices"
	"strings"
)

// WholeFunc tells of which tree, hashed already, a link has a part: what that
// tree has at the link's own path and below it. A link that has no part of
// any, for which it returns nil, is an ordinary one.
type WholeFunc func(path, target string) *Tree

// Reader is [ReadTree] with options.
type Reader struct {
	// Whole is for a file system that has parts of the tree elsewhere, reached
	// by links, which may point out of the file system. A file system that is
	// the same as the whole tree of the links gives that tree: the one that
	// Whole returned, not a copy of it. nil means that all links are ordinary
	// ones.
	Whole WholeFunc
	// MaxFile is the size in bytes of the largest file that is read; a larger
	// one is an error. 0 means that there is no limit.
	MaxFile int64
}

// Read is [ReadTree].
func (r Reader) Read(fsys fs.FS) (*Tree, error) {
	w := walker{fsys: fsys, whole: r.Whole}
	if err := w.walk(); err != nil {
		return nil, err
	}
	if err := sumFiles(fsys, w.entries, r.MaxFile); err != nil {
		return nil, err
	}
	if w.isWhole() {
		return w.linked[0].tree, nil
	}
	entries := w.entries
	for _, l := range w.linked {
		entries = append(entries, l.part...)
	}
	if len(w.linked) > 0 {
		sortEntries(entries)
	}
	tree := &Tree{Entries: entries}
	if i, err := settle(entries); err != nil {
		return nil, &TreeError{Path: entries[i].Path, Err: err, Listed: tree}
	}
	return tree, nil
}

// linkedPart is what a link has of a tree.
type linkedPart struct {
	tree *Tree
	part []Entry
}

// isWhole reports whether the entries and the linked parts, no two of which
// can have a path in common, are just those of the tree of all links.
func (w *walker) isWhole() bool {
	if len(w.linked) == 0 {
		return false
	}
	tree := w.linked[0].tree
	if w.count != len(tree.Entries) || slices.ContainsFunc(w.linked, func(l linkedPart) bool { return l.tree != tree }) {
		return false
	}
	for _, e := range w.entries {
		i, found := find(tree.Entries, e.Path)
		if !found || !e.same(tree.Entries[i]) {
			return false
		}
	}
	return true
}

// sortEntries sorts by path. A walk sees "a" and all below it before "a.b",
// which sorts before "a/".
func sortEntries(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
}
