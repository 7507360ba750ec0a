package hashing

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/pathsafe"
)

// Kind is the kind of an entry. Its value is the byte that t1 and the text form
// have for it.
type Kind byte

// The kinds of entries. Directories that are not empty have no entries.
const (
	File     Kind = 'f'
	ExecFile Kind = 'x' // a file that its owner may execute
	Link     Kind = 'l'
	EmptyDir Kind = 'd'
)

// String returns the kind in words, such as "executable file".
func (k Kind) String() string {
	switch k {
	case File:
		return "file"
	case ExecFile:
		return "executable file"
	case Link:
		return "link"
	case EmptyDir:
		return "empty directory"
	}
	return "unknown kind"
}

// Entry is one file, link or empty directory of a tree.
type Entry struct {
	// Path is relative to the tree, with forward slashes.
	Path string
	Kind Kind
	// Size is a file's size in bytes and 0 for all else.
	Size int64
	// Sum is the SHA-256 of a file's content. That of a link is the Sum of the
	// file that it leads to, which h1 needs; it is zero where the link leads to
	// a directory. That of an empty directory is zero.
	Sum [32]byte
	// Target is where a link leads, as the link has it; empty for all else.
	Target string
}

func (e Entry) isFile() bool { return e.Kind == File || e.Kind == ExecFile }

// same reports whether e and other are equal in themselves. A link stays the
// same when the file changes that it leads to.
func (e Entry) same(other Entry) bool {
	if e.Kind == Link {
		e.Sum, other.Sum = [32]byte{}, [32]byte{}
	}
	return e == other
}

// maxEntries bounds a tree in memory. It is ten times what a package may have,
// for what modules write into their directories.
const maxEntries = 1_000_000

// Tree lists what a directory holds. [ReadTree] and [ParseTree] return trees
// that are valid; those made by hand must have their entries sorted by path.
type Tree struct{ Entries []Entry }

// ReadTree walks a file system once and hashes its files, several at a time.
// The file system must allow concurrent use, and must implement
// [fs.ReadLinkFS] to have links. Good ones are [RootFS], [os.Root.FS],
// [os.DirFS] and [testing/fstest.MapFS]; the first two also keep to their
// directory while others change it. Errors are *[TreeError].
func ReadTree(fsys fs.FS) (*Tree, error) { return Reader{}.Read(fsys) }

// Dir returns the h1 hash of a directory on disk. The directory may be given
// by a link. Errors are *[TreeError].
func Dir(dir string) (Hash, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", &TreeError{Path: dir, Err: err}
	}
	defer root.Close()
	return FS(RootFS(root))
}

// FS returns the h1 hash of a file system, which must be one for [ReadTree].
// Errors are *[TreeError].
func FS(fsys fs.FS) (Hash, error) {
	tree, err := ReadTree(fsys)
	if err != nil {
		return "", err
	}
	return tree.H1(), nil
}

// settle checks sorted entries as a whole and gives links the sums of the files
// that they lead to. It returns the index of the entry at fault.
func settle(entries []Entry) (int, error) {
	links := pathsafe.Resolver{Lookup: lookup(entries), Target: pathsafe.Target}
	for i := range entries {
		if i > 0 && entries[i-1].Path >= entries[i].Path {
			return i, errOrder
		}
	}
	for i := range entries {
		if below(entries, entries[i].Path) {
			return i, errNested
		}
		if entries[i].Kind != Link {
			continue
		}
		name, isFile, fault := links.Follow(entries[i].Path)
		if fault != nil {
			return i, fmt.Errorf("the link %q to %q %s", fault.Link, fault.Target, fault.Reason)
		}
		entries[i].Sum = [32]byte{}
		if isFile {
			at, _ := find(entries, name)
			entries[i].Sum = entries[at].Sum
		}
	}
	return 0, nil
}

// lookup returns a function that finds what sorted entries have at a path.
func lookup(entries []Entry) func(name string) (pathsafe.Kind, string) {
	return func(name string) (pathsafe.Kind, string) {
		i, found := find(entries, name)
		switch {
		case !found && !below(entries, name):
			return pathsafe.Absent, ""
		case !found || entries[i].Kind == EmptyDir:
			return pathsafe.Directory, ""
		case entries[i].Kind == Link:
			return pathsafe.Link, entries[i].Target
		}
		return pathsafe.File, ""
	}
}

// Part returns the entries at a path and below it, the latter in order.
func (t *Tree) Part(path string) []Entry {
	i, found := find(t.Entries, path)
	if found {
		return t.Entries[i : i+1]
	}
	dir, rest := path+"/", t.Entries[i:]
	first, _ := find(rest, dir)
	n := first
	for n < len(rest) && strings.HasPrefix(rest[n].Path, dir) {
		n++
	}
	return rest[first:n]
}

func comparePath(e Entry, path string) int { return strings.Compare(e.Path, path) }

// find returns the entry with this path.
func find(entries []Entry, path string) (int, bool) {
	return slices.BinarySearchFunc(entries, path, comparePath)
}

// below reports whether there are entries in the directory with this path,
// which says that there is such a directory.
func below(entries []Entry, dir string) bool {
	i, _ := find(entries, dir+"/")
	return i < len(entries) && strings.HasPrefix(entries[i].Path, dir+"/")
}

// WithModesOf returns the tree as it would be on a file system that keeps
// executable bits: its files are as executable as those of known at the same
// paths. It is for trees that were read from a file system that does not, of
// which known is what should be there.
func (t *Tree) WithModesOf(known *Tree) *Tree {
	entries := slices.Clone(t.Entries)
	for i, entry := range entries {
		if at, found := find(known.Entries, entry.Path); found && entry.isFile() && known.Entries[at].isFile() {
			entries[i].Kind = known.Entries[at].Kind
		}
	}
	return &Tree{Entries: entries}
}

// Changes are paths that differ between two trees, each list sorted.
type Changes struct {
	// Changed are the entries of both trees that differ in kind, content or
	// target.
	Changed []string
	// Vanished are the entries that are gone.
	Vanished []string
	// Added are the entries that are new.
	Added []string
}

// Empty reports whether there are no changes.
func (c Changes) Empty() bool { return len(c.Changed)+len(c.Vanished)+len(c.Added) == 0 }

// Diff tells what became of want in got. Trees that differ in t1 have changes
// and others have none. A directory that was empty and now has entries has not
// vanished, and one that has lost its entries was not added: the entries tell.
func Diff(want, got *Tree) Changes {
	var c Changes
	w, g := want.Entries, got.Entries
	for len(w) > 0 || len(g) > 0 {
		switch {
		case len(g) == 0 || len(w) > 0 && w[0].Path < g[0].Path:
			if w[0].Kind != EmptyDir || !below(got.Entries, w[0].Path) {
				c.Vanished = append(c.Vanished, w[0].Path)
			}
			w = w[1:]
		case len(w) == 0 || g[0].Path < w[0].Path:
			if g[0].Kind != EmptyDir || !below(want.Entries, g[0].Path) {
				c.Added = append(c.Added, g[0].Path)
			}
			g = g[1:]
		default:
			if !w[0].same(g[0]) {
				c.Changed = append(c.Changed, w[0].Path)
			}
			w, g = w[1:], g[1:]
		}
	}
	return c
}
