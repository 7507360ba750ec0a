package treewriter

import (
	"cmp"
	"fmt"
)

// Default limits of a tree.
const (
	// DefaultTreeBytes is 1 GiB. The largest published module packages are below 200 MB, and build
	// agents have that much free space.
	DefaultTreeBytes = 1 << 30
	// DefaultFileBytes is 256 MiB, far more than any file of a real module.
	DefaultFileBytes = 256 << 20
	// DefaultEntries limits the inodes that a small archive can use up.
	DefaultEntries = 100_000
)

const (
	// maxLinks limits the work of checking links.
	maxLinks = 1000
	// maxNamedLinks is the maximum number of links that one warning names.
	maxNamedLinks = 3
)

// Limits limit a tree. Zero fields mean the defaults.
type Limits struct {
	// TreeBytes is the maximum sum of the files' sizes in bytes.
	TreeBytes int64
	// FileBytes is the maximum size of one file in bytes.
	FileBytes int64
	// Entries is the maximum number of files, directories and links.
	Entries int
	// Portable makes it an error if a name cannot be stored on all systems.
	Portable bool
}

func (l Limits) withDefaults() Limits {
	l.TreeBytes, l.FileBytes = cmp.Or(l.TreeBytes, DefaultTreeBytes), cmp.Or(l.FileBytes, DefaultFileBytes)
	l.Entries = cmp.Or(l.Entries, DefaultEntries)
	return l
}

// PathError is the error for an entry that a tree must not contain.
type PathError struct {
	// Path is the entry's name as it was given.
	Path string
	// Reason is the reason why it is refused. It may quote other names.
	Reason string
}

func (e *PathError) Error() string { return fmt.Sprintf("%q: %s", e.Path, e.Reason) }

// LimitError is the error for a tree that exceeds a limit.
type LimitError struct {
	// Path is the entry that went over the limit.
	Path string
	// What describes the limited quantity with its unit, such as "bytes in one file".
	What string
	// Max is the limit.
	Max int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%q: more than %d %s", e.Path, e.Max, e.What)
}
