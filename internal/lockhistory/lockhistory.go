package lockhistory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/gitowner"
	"github.com/cotterpin/cotter/lockfile"
)

// MaxCommits is how many changes of the lock are read. Locks are changed about once a week by
// tools that update dependencies, so this is the history of years.
const MaxCommits = 200

const (
	// maxTotal bounds the size of all versions, in bytes. A lock with 100 modules and 20
	// providers has about 100 kB.
	maxTotal = 64 << 20
	// maxTime bounds the time for all of it. Git passes over about 50,000 commits in a second.
	maxTime = 10 * time.Second
)

// Block is a kind of block in a lock.
type Block string

// The kinds of blocks. Module blocks in the format of a later draft do not count.
const (
	Modules   Block = "module"
	Providers Block = "provider"
)

// in reports whether a lock has blocks of this kind.
func (b Block) in(lock *lockfile.File) bool {
	if b == Modules {
		return len(lock.Modules()) > 0
	}
	return len(lock.Providers()) > 0
}

// Version is the lock in a commit that changed it.
type Version struct {
	// Commit is the id of the commit, and Short the abbreviation that git prints.
	Commit, Short string
	// Time is when the commit was made; zero if it is not known.
	Time time.Time
	// IsHead says that the lock has not changed since.
	IsHead bool
	// Lock is the lock, and Src its text.
	Lock *lockfile.File
	Src  []byte
}

// String names the commit in messages: "commit 3f2a91c (2026-10-02)".
func (v *Version) String() string {
	if v.Time.IsZero() {
		return "commit " + v.Short
	}
	return fmt.Sprintf("commit %s (%s)", v.Short, v.Time.Format(time.DateOnly))
}

// EndError says that the history could not be read to its end, and that the part that was read
// does not have the blocks.
type EndError struct {
	// LockFile is the name of the lock.
	LockFile string
	// Shallow says that the clone is shallow, and Partial that it does not have all objects.
	Shallow, Partial bool
	// Err says why the history could not be read; nil if the clone is shallow.
	Err error
}

func (e *EndError) Error() string {
	switch {
	case e.Shallow:
		return fmt.Sprintf("git's history of %s ends early, because the clone is shallow", e.LockFile)
	case e.Partial:
		return fmt.Sprintf("git's history of %s ends early, because the clone is partial and does not have its earlier versions", e.LockFile)
	}
	return fmt.Sprintf("git's history of %s could not be read: %s", e.LockFile, e.Err)
}

func (e *EndError) Unwrap() error { return e.Err }

// Find returns the newest version of the lock in dir that has blocks of a kind. It returns nil if
// there is none, also if dir is not in a git repository or nothing was committed. The error is of
// type [*gitowner.OwnerError] if the user may not use the repository, or an [*EndError].
func Find(ctx context.Context, dir, lockFile string, block Block) (*Version, error) {
	lockFile = filepath.ToSlash(lockFile)
	tree, err := (&gitexec.Git{}).WorkTree(dir)
	if errors.Is(err, gitowner.ErrNoRepository) {
		return nil, nil
	}
	if _, foreign := errors.AsType[*gitowner.OwnerError](err); foreign {
		return nil, err
	}
	if err != nil {
		return nil, &EndError{LockFile: lockFile, Err: err}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, fmt.Errorf("it takes more than %s", maxTime))
	defer cancel()
	found, whole, err := find(ctx, tree, lockFile, block)
	if err == nil && found == nil && whole {
		var shallow bool
		if shallow, err = tree.IsShallow(ctx); shallow {
			return nil, &EndError{LockFile: lockFile, Shallow: true}
		}
	}
	var none *gitexec.RevisionError
	if err != nil && !errors.As(err, &none) {
		return nil, &EndError{LockFile: lockFile, Partial: errors.Is(err, gitexec.ErrMissingObject), Err: err}
	}
	return found, nil
}

// find searches a checkout. whole says that it has read everything that the clone has.
func find(ctx context.Context, tree *gitexec.WorkTree, lockFile string, block Block) (found *Version, whole bool, err error) {
	limits := gitexec.HistoryLimits{Commits: MaxCommits, File: lockfile.MaxSize, Total: maxTotal}
	n := 0
	for v, err := range tree.History(ctx, "./"+lockFile, limits) {
		if err != nil {
			return nil, false, err
		}
		n++
		if !bytes.Contains(v.Content, []byte(block)) {
			continue // it need not be parsed
		}
		if lock, diags := lockfile.Parse(v.Content, ""); !diags.HasErrors() && block.in(lock) {
			return &Version{Commit: v.Commit, Short: v.Short, Time: v.Time, IsHead: n == 1, Lock: lock, Src: v.Content}, false, nil
		}
	}
	return nil, n < MaxCommits, nil
}
