package hashing

import (
	"io/fs"
	"os"
	"slices"
	"strings"
)

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
	links := linkResolver{entries: entries}
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
		at, err := links.resolve(i, 0)
		if err != nil {
			return i, err
		}
		entries[i].Sum = at.sum
	}
	return 0, nil
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
