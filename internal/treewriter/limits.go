package treewriter

import (
	"fmt"
)

// The default limits of a tree.
const (
	// DefaultTreeBytes is 1 GiB: the largest published module packages are
	// below 200 MB, and build agents have that much space to spare.
	DefaultTreeBytes = 1 << 30
	// DefaultFileBytes is 256 MiB. No file of a real module comes near it.
	DefaultFileBytes = 256 << 20
	// DefaultEntries bounds the inodes that a small archive can use up.
	DefaultEntries = 100_000
)

const (
	// maxLinks bounds the work of checking links.
	maxLinks = 1000
	// maxNamedLinks is how many links one warning names.
	maxNamedLinks = 3
)

// Limits bounds a tree. Zero fields mean the defaults.
type Limits struct {
	// TreeBytes bounds the sum of the files' sizes.
	TreeBytes int64
	// FileBytes bounds the size of one file.
	FileBytes int64
	// Entries bounds the number of files, directories and links.
	Entries int
	// Portable makes names an error that only some systems can hold.
	Portable bool
}

func (l Limits) withDefaults() Limits {
	if l.TreeBytes == 0 {
		l.TreeBytes = DefaultTreeBytes
	}
	if l.FileBytes == 0 {
		l.FileBytes = DefaultFileBytes
	}
	if l.Entries == 0 {
		l.Entries = DefaultEntries
	}
	return l
}

// PathError is an entry that a tree must not contain.
type PathError struct {
	// Path is the entry's name as it was given.
	Path string
	// Reason is what is wrong with it; it may quote other names.
	Reason string
}

func (e *PathError) Error() string { return fmt.Sprintf("%q: %s", e.Path, e.Reason) }

// LimitError is a tree that is larger than its limits.
type LimitError struct {
	// Path is the entry that went over the limit.
	Path string
	// What is limited, with its unit, such as "bytes in one file".
	What string
	// Max is how many are allowed.
	Max int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%q: more than %d %s", e.Path, e.Max, e.What)
}
