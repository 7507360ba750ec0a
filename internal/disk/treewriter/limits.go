package treewriter

import (
	"cmp"
	"fmt"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
)

const (
	// maxLinks limits the work of checking links.
	maxLinks = 1000
	// maxNamedLinks limits the links that one warning names.
	maxNamedLinks = 3
)

// Limits with zero fields mean the defaults of [packagelimits].
type Limits struct {
	// TreeBytes limits all files together.
	TreeBytes int64
	// FileBytes limits one file; 0 means TreeBytes.
	FileBytes int64
	// Entries are files, directories and links.
	Entries int
	// Portable refuses names that not all systems can store, as Windows does.
	Portable bool
	// Share is that of the package, if there are further lists of its entries; nil means one that the Writer closes.
	Share *packagelimits.Share
}

// WithDefaults returns limits without zero fields.
func (l Limits) WithDefaults() Limits {
	l.TreeBytes, l.Entries = cmp.Or(l.TreeBytes, packagelimits.TreeBytes), cmp.Or(l.Entries, packagelimits.Entries)
	l.FileBytes = cmp.Or(l.FileBytes, l.TreeBytes)
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
