package hashing

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
)

// Reader has options for reading a tree; see [ReadTree].
type Reader struct {
	// Whole is for a tree that is partly stored in shared trees, to which links point, possibly outside
	// of the file system. It returns the shared tree, hashed before, that a link points to, or nil for an
	// ordinary link. The link stands for that tree's entries at the link's own path and below it. If the
	// whole tree equals the shared tree, Read returns the same *Tree. nil means that all links are
	// ordinary.
	Whole func(path, target string) *Tree
	// MaxFile is the maximum size of a file in bytes; 0 means no limit.
	MaxFile int64
	// MaxTree is the maximum size of all files together in bytes, and MaxEntries the maximum number of
	// entries; 0 means no limit other than that of every tree.
	MaxTree    int64
	MaxEntries int
}

// Read is [ReadTree] with the options of r.
func (r Reader) Read(ctx context.Context, fsys fs.FS) (*Tree, error) {
	w := walker{ctx: ctx, fsys: fsys, whole: r.Whole, maxEntries: maxEntries}
	if r.MaxEntries > 0 {
		w.maxEntries = min(r.MaxEntries, maxEntries)
	}
	if err := w.walk(); err != nil {
		return nil, err
	}
	if err := r.sumFiles(ctx, fsys, w.entries); err != nil {
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

type linkedPart struct {
	tree *Tree
	part []Entry
}

// isWhole reports whether all links point to the same shared tree, and the entries and linked parts,
// which have no paths in common, together equal that tree.
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

// sortEntries sorts by path: a walk visits everything below "a" before "a.b", which sorts before "a/".
func sortEntries(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
}

// walker lists entries, without the sums, sizes and execute bits of files.
type walker struct {
	ctx        context.Context
	fsys       fs.FS
	whole      func(path, target string) *Tree // nil if all links are ordinary
	entries    []Entry
	linked     []linkedPart
	count      int // the number of entries, including those of linked parts
	maxEntries int
}

func (w *walker) walk() error {
	if _, err := w.dir("."); err != nil {
		return err
	}
	sortEntries(w.entries)
	return nil
}

// dir adds what is below a directory. Subdirectories come last, so that one directory is open at a time.
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

// children adds the files and links of a directory, and returns its number of names and its
// subdirectories.
func (w *walker) children(dir string) (names int, subdirs []string, err error) {
	if err := ctxerr.Of(w.ctx); err != nil {
		return 0, nil, &TreeError{Path: dir, Err: err}
	}
	at, err := top(w.fsys).open(dir)
	if err != nil {
		return 0, nil, &TreeError{Path: dir, Err: err}
	}
	defer at.close()
	list, err := at.list(w.ctx)
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

func (w *walker) link(at directory, name string, child fs.DirEntry) error {
	target, err := at.target(child)
	if err != nil {
		return err
	}
	target = filepath.ToSlash(target) // links on Windows have backslashes
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
	if w.count += by; w.count > w.maxEntries {
		return tooMany(w.maxEntries)
	}
	return nil
}
