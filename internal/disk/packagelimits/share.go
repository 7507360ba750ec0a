package packagelimits

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// fewEntries is how many entries of a package are listed whatever the others do; they take some 10 MB, with all that is
// kept for them until the package is written.
const fewEntries = 25_000

// many is held by the one package in this process that has more than fewEntries, from before they are listed until it is
// written. An archive or a pack of some kilobytes can list 500,000, and several of them would take gigabytes.
var many = semaphore.NewWeighted(1)

// Share is a package's part of the memory for lists of entries. Its zero value is one of a package with few. It is not safe
// for concurrent use.
type Share struct{ held bool }

// Waits reports whether [Share.Grow] to so many entries may wait.
func (s *Share) Waits(entries int64) bool { return !s.held && entries > fewEntries }

// Grow must be called before the list of a package becomes so long. If that is long, and another long one exists, it waits
// for that until ctx is done. So no server should be waited for until [Share.Close].
func (s *Share) Grow(ctx context.Context, entries int64) error {
	if !s.Waits(entries) {
		return nil
	}
	if err := many.Acquire(ctx, 1); err != nil {
		return err
	}
	s.held = true
	return nil
}

// Close lets the next package have a long list. It can be called more than once.
func (s *Share) Close() {
	if s.held {
		many.Release(1)
		s.held = false
	}
}
