package treewriter

import (
	"cmp"
	"fmt"
)

// Default limits of a tree.
const (
	// DefaultTreeBytes is enough: the largest published packages are below 200 MB. Build agents have that much
	// space.
	DefaultTreeBytes = 1 << 30
	// DefaultFileBytes is far more than any file of a real module.
	DefaultFileBytes = 256 << 20
	// DefaultEntries limits the inodes that a small archive can use up.
	DefaultEntries = 100_000
)

const (
	// maxLinks limits the work of checking links.
	maxLinks = 1000
	// maxNamedLinks limits the links that one warning names.
	maxNamedLinks = 3
)

// Limits with zero fields mean the defaults.
type Limits struct {
	// TreeBytes limits all files together.
	TreeBytes int64
	FileBytes int64
	// Entries are files, directories and links.
	Entries int
	// Portable refuses names that not all systems can store, as Windows does.
	Portable bool
}

func (l Limits) withDefaults() Limits {
	l.TreeBytes, l.FileBytes = cmp.Or(l.TreeBytes, DefaultTreeBytes), cmp.Or(l.FileBytes, DefaultFileBytes)
	l.Entries = cmp.Or(l.Entries, DefaultEntries)
	return l
}

// PathError is about an entry that a tree must not contain.
type PathError struct {
	// Path is as it was given.
	Path string
	// Reason may quote other names.
	Reason string
}

func (e *PathError) Error() string { return fmt.Sprintf("%q: %s", e.Path, e.Reason) }

type LimitError struct {
	// Path is the entry that went over the limit.
	Path string
	// What is the limited quantity with its unit, such as "bytes in one file".
	What string
	Max  int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%q: more than %d %s", e.Path, e.Max, e.What)
}
