package packagedir

import (
	"errors"
	"slices"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
)

// Status is how an installed package compares with its lock entry.
type Status int

// The zero value is for packages that were not compared.
const (
	Unknown Status = iota
	Verified
	Changed
	Missing
	// Former was installed from a former entry. Callers set it, because this package does not know these.
	Former
)

type Report struct {
	Status Status
	// Want are the entry's hashes, and Got those of the installed files for the same schemes.
	Want, Got []hashing.Hash
	// Changes are the files that differ, if the sums of the locked files are available.
	Changes hashing.Changes
	// Err is why the installed files could not be read or compared.
	Err error
	// Tree is that of the entry if the package is verified.
	Tree *store.Tree
	// Files are the installed ones, or nil if they could not be read.
	Files *store.Tree
	// SharedTree is the project's shared tree that the directory has links into, if any.
	SharedTree string
}

func (r *Report) compareHashes(entry lockfile.Module, tree *store.Tree) bool {
	same := true
	for _, want := range entry.Hashes {
		if have := tree.Hash(want.Scheme()); have != "" {
			r.Want, r.Got = append(r.Want, want), append(r.Got, have)
			same = same && want == have
		}
	}
	return same && len(r.Got) > 0
}

type comparison struct {
	entry lockfile.Module
	// locked is the tree from which the entry was made, or nil.
	locked *store.Tree
	// keepsModes says that the file system has executable bits.
	keepsModes bool
}

// compare compares the hashes and, if they differ and the locked tree is known, the files. err is why the
// package could not be hashed, or nil. If that is because of links, the files are compared nevertheless.
func (c comparison) compare(r *Report, tree *store.Tree, err error) {
	r.Status = Changed
	if err != nil {
		r.Err = err
		var bad *hashing.TreeError
		if errors.As(err, &bad) && bad.Listed != nil && c.locked != nil {
			r.Changes = c.changes(bad.Listed)
		}
		return
	}
	if !c.keepsModes && c.locked != nil {
		tree = store.NewTree(tree.WithModesOf(c.locked.Tree))
	}
	r.Tree, r.Files = tree, tree
	if r.compareHashes(c.entry, tree) {
		r.Status = Verified
		return
	}
	if c.locked == nil {
		return
	}
	r.Changes = c.changes(tree.Tree)
	if harmless(r.Changes) {
		r.Status, r.Tree = Verified, c.locked
	}
}

func (c comparison) changes(files *hashing.Tree) hashing.Changes {
	return hashing.Diff(withoutTreeLinks(c.locked.Tree), withoutTreeLinks(files))
}

func withoutTreeLinks(tree *hashing.Tree) *hashing.Tree {
	if !slices.ContainsFunc(tree.Entries, isTreeLink) {
		return tree
	}
	return &hashing.Tree{Entries: slices.DeleteFunc(slices.Clone(tree.Entries), isTreeLink)}
}
