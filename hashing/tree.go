package hashing

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// Kind is the kind of an entry. Its value is the byte used in t1 and in the text form.
type Kind byte

// The kinds of entries. Directories that are not empty have no entries.
const (
	File     Kind = 'f'
	ExecFile Kind = 'x' // a file that its owner may execute
	Link     Kind = 'l'
	EmptyDir Kind = 'd'
)

// Entry is one file, link or empty directory of a tree.
type Entry struct {
	// Path is relative to the tree, with forward slashes.
	Path string
	Kind Kind
	// Size is a file's size in bytes; 0 for other kinds.
	Size int64
	// Sum is the SHA-256 of a file's content, also for a link to a file, because h1 needs it. It is zero
	// for a link to a directory and for an empty directory.
	Sum [32]byte
	// Target is a link's target, unchanged; empty for other kinds.
	Target string
}

func (e Entry) isFile() bool { return e.Kind == File || e.Kind == ExecFile }

// same ignores the content of the files that links point to.
func (e Entry) same(other Entry) bool {
	if e.Kind == Link {
		e.Sum, other.Sum = [32]byte{}, [32]byte{}
	}
	return e == other
}

// maxEntries is twice the highest limit for packages, because modules can write into their directories.
const maxEntries = 2_000_000

// Tree lists the entries of a directory. Trees from [ReadTree] and [ParseTree] are valid.
// In other trees, the entries must be sorted by path.
type Tree struct{ Entries []Entry }

// ReadTree walks a file system once and hashes its files concurrently. The file system must be safe for
// concurrent use, and must implement [fs.ReadLinkFS] if it has links. [RootFS] and [os.Root.FS] do not
// leave their directory even if another process changes it. The error is a *[TreeError]; when ctx ends,
// it wraps the context's error and its cause.
func ReadTree(ctx context.Context, fsys fs.FS) (*Tree, error) { return Reader{}.Read(ctx, fsys) }

// NewTree returns the tree of entries that were hashed in another way, in any order. The sums of links need not be set. The
// error is a *[TreeError] for entries that cannot be those of a directory.
func NewTree(entries []Entry) (*Tree, error) {
	tree := &Tree{Entries: slices.Clone(entries)}
	sortEntries(tree.Entries)
	if i, err := settle(tree.Entries); err != nil {
		return nil, &TreeError{Path: tree.Entries[i].Path, Err: err, Listed: tree}
	}
	return tree, nil
}

// Dir returns the h1 hash of a directory on disk, to which dir may be a link. Errors are as of
// [ReadTree].
func Dir(ctx context.Context, dir string) (Hash, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", &TreeError{Path: dir, Err: err}
	}
	defer root.Close()
	tree, err := ReadTree(ctx, RootFS(root))
	if err != nil {
		return "", err
	}
	return tree.H1(), nil
}

// FS returns the h1 hash of a file system, as [ReadTree] reads it. The error is a *[TreeError].
func FS(fsys fs.FS) (Hash, error) {
	tree, err := ReadTree(context.Background(), fsys)
	if err != nil {
		return "", err
	}
	return tree.H1(), nil
}

// settle checks that entries are sorted and consistent, and sets the sums of links to
// files. It returns the index of the first invalid entry.
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

// Part returns the entry at a path, or the entries below it in order.
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

// find returns the index of the entry with a path, or the index at which it would be inserted.
func find(entries []Entry, path string) (int, bool) {
	return slices.BinarySearchFunc(entries, path, comparePath)
}

// below reports whether there are entries below a path, so that the path is a directory.
func below(entries []Entry, dir string) bool {
	i, _ := find(entries, dir+"/")
	return i < len(entries) && strings.HasPrefix(entries[i].Path, dir+"/")
}

// WithModesOf returns the tree with the execute bits of known, for file systems that have none.
func (t *Tree) WithModesOf(known *Tree) *Tree {
	entries := slices.Clone(t.Entries)
	for i, entry := range entries {
		if at, found := find(known.Entries, entry.Path); found && entry.isFile() && known.Entries[at].isFile() {
			entries[i].Kind = known.Entries[at].Kind
		}
	}
	return &Tree{Entries: entries}
}

// Changes are the paths that differ between two trees. Each list is sorted.
type Changes struct {
	// Changed are the paths of entries that differ in kind, content or target.
	Changed []string
	// Vanished are the paths that only the first tree has.
	Vanished []string
	Added    []string
}

// Empty reports whether there are no changes.
func (c Changes) Empty() bool { return len(c.Changed)+len(c.Vanished)+len(c.Added) == 0 }

// Diff returns the changes from want to got: none if and only if both have the same t1. A change of its
// entries is not one of the directory. A nil tree has no entries.
func Diff(want, got *Tree) Changes {
	want, got = cmp.Or(want, &Tree{}), cmp.Or(got, &Tree{})
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
