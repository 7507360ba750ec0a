package treewriter

import "fmt"

// PathError is an entry that a tree must not hold.
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
