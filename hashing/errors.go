package hashing

import (
	"errors"
	"fmt"
)

// HashError is the error for a text that is not a hash.
type HashError struct{ Input, Reason string }

func (e *HashError) Error() string {
	const shown = 128 // longer than any valid hash of a known scheme
	if len(e.Input) > shown {
		return fmt.Sprintf("invalid hash %q...: %s", e.Input[:shown], e.Reason)
	}
	return fmt.Sprintf("invalid hash %q: %s", e.Input, e.Reason)
}

// TreeError is the error for a tree that cannot be hashed. It wraps an *[io/fs.PathError] if the file
// system failed; otherwise an entry of the tree is not allowed.
type TreeError struct {
	// Path is the entry in the tree; "." is the tree itself. In errors of [Dir] it can be the directory.
	Path string
	Err  error
	// Listed is the whole tree if only its links are invalid. It can be compared, but has no valid
	// hashes.
	Listed *Tree
}

func (e *TreeError) Error() string { return fmt.Sprintf("cannot hash %q: %s", e.Path, e.Err) }
func (e *TreeError) Unwrap() error { return e.Err }

// SyntaxError is the error for a text that is not the text form of a tree.
type SyntaxError struct {
	Line int // counted from 1
	Err  error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("file sums, line %d: %s", e.Line, e.Err) }
func (e *SyntaxError) Unwrap() error { return e.Err }

func tooMany(limit int) error { return fmt.Errorf("the tree has more than %d entries", limit) }

var (
	errLarge     = errors.New("the file exceeds the size limit for files in packages")
	errIrregular = errors.New("neither a regular file nor a directory nor a link")
	errChanged   = errors.New("the file changed while it was being hashed")
	errOrder     = errors.New("the paths are not in order")
	errPath      = errors.New("not a clean relative path")
	errMetadata  = errors.New("version control metadata is not part of a tree")
	errNested    = errors.New("has entries below it and is not an empty directory")
	errKind      = errors.New("unknown kind of entry")
)
