package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/lockfile"
)

// MaxLockCommits is in changes of the lock: about one a week, so years.
const MaxLockCommits = 200

const (
	// maxTotal is in bytes. A lock with 100 modules and 20 providers has about 100 kB.
	maxTotal = 64 << 20
	// MaxCommits is how many commits are searched, along the first parents. A lock whose last blocks are older
	// than these has long been replaced.
	MaxCommits = 20_000
	// Git passes over MaxCommits in about 0.2 s, and in more if it has to unpack large trees.
	maxTime = 10 * time.Second
)

// ErrBounds says that only a part of the history was searched. A caller may use it as the cause of a deadline of its own.
var ErrBounds = fmt.Errorf("only its last %d commits are searched, for some seconds", MaxCommits)

type Block string

// Module blocks in the format of a later draft do not count.
const (
	Modules   Block = "module"
	Providers Block = "provider"
)

func (b Block) in(lock *lockfile.File) bool {
	if b == Modules {
		return len(lock.Modules()) > 0
	}
	return len(lock.Providers()) > 0
}

type LockVersion struct {
	// Short is the abbreviation that git prints.
	Commit, Short string
	// Time is zero if it is not known.
	Time   time.Time
	IsHead bool
	Lock   *lockfile.File
	Src    []byte
}

// String is such as "commit 3f2a91c (2026-10-02)".
func (v *LockVersion) String() string {
	if v.Time.IsZero() {
		return "commit " + v.Short
	}
	return fmt.Sprintf("commit %s (%s)", v.Short, v.Time.Format(time.DateOnly))
}

// LockAt returns the lock in dir at a revision, or the file after "REVISION:", as for git show. If there is none, the
// lock is empty; for a path, the error wraps fs.ErrNotExist. An invalid lock is a *lockfile.SyntaxError.
func LockAt(ctx context.Context, dir, lockFile, revision string) (*lockfile.File, error) {
	tree, err := Open(&gitexec.Git{}, dir)
	if err != nil {
		return nil, err
	}
	rev, file, named := strings.Cut(revision, ":")
	if !named {
		file = "./" + filepath.ToSlash(lockFile)
	}
	src, err := tree.Show(ctx, rev, file, lockfile.MaxSize+1)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return &lockfile.File{}, nil
	}
	if err != nil {
		return nil, err
	}
	return lockfile.Parse(src, revision)
}

// HistoryEndError says that the part of the history that could be read does not have the blocks.
type HistoryEndError struct {
	LockFile string
	// Shallow and Partial are about the clone.
	Shallow, Partial bool
	// Err is nil if the clone is shallow. It wraps [ErrBounds] if the history is too long.
	Err error
}

func (e *HistoryEndError) Error() string {
	switch {
	case e.Shallow:
		return fmt.Sprintf("git's history of %s ends early, because the clone is shallow", e.LockFile)
	case e.Partial:
		return fmt.Sprintf("git's history of %s ends early, because the clone is partial and does not have its earlier versions", e.LockFile)
	}
	if errors.Is(e.Err, ErrBounds) {
		return fmt.Sprintf("git's history of %s was not searched to its end: %s", e.LockFile, ErrBounds)
	}
	return fmt.Sprintf("git's history of %s could not be read: %s", e.LockFile, e.Err)
}

func (e *HistoryEndError) Unwrap() error { return e.Err }

// FindLock returns the newest version of the lock in dir that has blocks of a kind: stock tools drop module blocks
// when they rewrite a lock. It reads from HEAD along the first parents, follows no renames, and passes over what does not
// parse. It returns nil if there is none, also without a repository or a commit. The error is a [*gitdir.OwnerError] or a
// [*HistoryEndError].
func FindLock(ctx context.Context, dir, lockFile string, block Block) (*LockVersion, error) {
	lockFile = filepath.ToSlash(lockFile)
	tree, err := Open(&gitexec.Git{}, dir)
	if errors.Is(err, gitdir.ErrNoRepository) {
		return nil, nil
	}
	if _, foreign := errors.AsType[*gitdir.OwnerError](err); foreign {
		return nil, err
	}
	if err != nil {
		return nil, &HistoryEndError{LockFile: lockFile, Err: err}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, ErrBounds)
	defer cancel()
	found, whole, err := tree.findLock(ctx, lockFile, block)
	if err == nil && found == nil && whole {
		var answer []byte
		answer, err = tree.git.Output(ctx, tree.command("rev-parse", "--is-shallow-repository"), maxLine)
		if strings.TrimSpace(string(answer)) == "true" {
			return nil, &HistoryEndError{LockFile: lockFile, Shallow: true}
		}
	}
	var none *RevisionError
	if err != nil && !errors.As(err, &none) {
		return nil, &HistoryEndError{LockFile: lockFile, Partial: errors.Is(err, ErrMissingObject), Err: err}
	}
	return found, nil
}

type Sides struct{ Base, Ours, Theirs *lockfile.File }

// ConflictSides returns the versions of a conflicted lock from git's index; src has the conflict markers. It returns
// false if one of them is missing or no valid lock, or if src has a line of none: the user has begun to resolve it.
func ConflictSides(ctx context.Context, dir, lockFile string, src []byte) (sides Sides, ok bool, err error) {
	tree, err := Open(&gitexec.Git{}, dir)
	if err != nil {
		return Sides{}, false, err
	}
	name := tree.fromTop("./" + filepath.ToSlash(lockFile))
	stages, err := tree.list(ctx, maxLine, "ls-files", "-z", "--stage", "--unmerged", "--", ":(literal)"+name)
	if err != nil {
		return Sides{}, false, err
	}
	known := map[string]bool{"": true, "=======": true}
	for stage, side := range map[string]**lockfile.File{"1": &sides.Base, "2": &sides.Ours, "3": &sides.Theirs} {
		i := slices.IndexFunc(stages, func(l listed) bool { return strings.HasPrefix(l.fields[0], "100") && l.fields[2] == stage })
		if i < 0 {
			return Sides{}, false, nil
		}
		text, err := tree.git.Output(ctx, tree.command("cat-file", "blob", stages[i].fields[1]), lockfile.MaxSize+1)
		if err != nil {
			return Sides{}, false, err
		}
		if *side, err = lockfile.Parse(text, ""); err != nil {
			return Sides{}, false, nil
		}
		for line := range strings.Lines(string(text)) {
			known[strings.TrimRight(line, "\r\n")] = true
		}
	}
	for line := range strings.Lines(string(src)) {
		line = strings.TrimRight(line, "\r\n")
		if !known[line] && !strings.HasPrefix(line, "<<<<<<< ") && !strings.HasPrefix(line, "||||||| ") && !strings.HasPrefix(line, ">>>>>>> ") {
			return Sides{}, false, nil
		}
	}
	return sides, true, nil
}
