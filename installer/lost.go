package installer

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/git/worktree"
	"github.com/cotterpin/cotter/lockfile"
)

// lostEntries are the module entries that the lock of a project had and has lost: those in the copy of the last
// run or, if that has none and the lock has lost all module blocks, in git's history. Without them, new
// versions would be selected silently. The history is read once, if a call without an entry is found. A nil
// value has no entries. It is safe for concurrent use.
type lostEntries struct {
	*openProject

	ahead  sync.Once
	stop   func() // ends a search ahead; nil if there is none
	search sync.Once
	// found is the newest lock with module blocks in git's history, and err says why that could not be read.
	found *worktree.LockVersion
	err   error
}

// entry returns the entry that a call had once. If the lock file itself does not exist, the user has removed it
// to get a new one.
func (l *lostEntries) entry(ctx context.Context, key string) (lockfile.Module, bool) {
	lock := l.earlierLock(ctx)
	if lock == nil {
		return lockfile.Module{}, false
	}
	return lock.Module(key)
}

func (l *lostEntries) earlierLock(ctx context.Context) *lockfile.File {
	if l == nil || l.LockSrc == nil || !l.req.hasLockFile() {
		return nil
	}
	if l.hasCopy() {
		return l.former
	}
	if l.lostAll() {
		if version := l.inHistory(ctx); version != nil {
			return version.Lock
		}
	}
	return nil
}

func (l *lostEntries) hasCopy() bool { return len(entriesIn(l.former)) > 0 }

// lostAll reports whether the lock exists without module blocks, so that its history is asked. Stock tools do
// not rewrite a lock in another place than theirs.
func (l *lostEntries) lostAll() bool {
	return l.LockSrc != nil && len(l.Lock.Modules())+len(l.Lock.SourceModules()) == 0 && l.searchesHistory()
}

func (l *lostEntries) searchesHistory() bool {
	return l.req.hasLockFile() && filepath.Clean(l.req.lockFile()) == lockfile.Name && !l.req.Update.All
}

func (l *lostEntries) inHistory(ctx context.Context) *worktree.LockVersion {
	l.search.Do(func() {
		l.found, l.err = worktree.FindLock(ctx, l.req.dir(), l.req.lockFile(), worktree.Modules)
	})
	return l.found
}

// from names the earlier lock in messages; "" if no earlier lock is known.
func (l *lostEntries) from(ctx context.Context) string {
	if l.hasCopy() {
		return fromCopy
	}
	return l.fromHistory(ctx)
}

func (l *lostEntries) fromHistory(ctx context.Context) string {
	if version := l.inHistory(ctx); version != nil {
		return version.String()
	}
	return ""
}

// maxLookAhead is for a search whose result is only a hint, and for which each first installation waits.
const maxLookAhead = 2 * time.Second

// lookAhead begins to search for an earlier version of a lock that does not exist, so that the run need not
// wait for git when it ends. The caller must call close.
func (l *lostEntries) lookAhead(ctx context.Context) {
	if l == nil || l.LockSrc != nil || !l.searchesHistory() || l.keepsCopy() {
		return
	}
	l.ahead.Do(func() {
		ctx, cancel := context.WithTimeoutCause(ctx, maxLookAhead, worktree.ErrBounds)
		l.stop = func() {
			cancel()
			l.inHistory(ctx) // waits for the end of the search
		}
		go l.inHistory(ctx)
	})
}

func (l *lostEntries) close() {
	if l.stop != nil {
		l.stop()
	}
}

// keepsCopy reports whether the copy has entries after the run. A run that places packages replaces it, unless
// it must not change the lock.
func (l *lostEntries) keepsCopy() bool {
	return l.hasCopy() && (!l.req.placesModules() || l.req.Locked)
}

// deletedFrom names an earlier version of a lock file that does not exist, from which Restore can take entries
// after the run. It returns "" if no such version is known, or if no call needs one.
func (l *lostEntries) deletedFrom(ctx context.Context) string {
	switch {
	case l.LockSrc != nil || l.req.Update.All || !l.req.hasLockFile():
		return ""
	case l.keepsCopy():
		return fromCopy
	case l.stop == nil:
		return ""
	}
	return l.fromHistory(ctx)
}

// searchEnded returns a warning if the search for a lock that does not exist has stopped early. It is called after
// deletedFrom, which waits for the search.
func (l *lostEntries) searchEnded() (w event.Warning, stopped bool) {
	if l.stop == nil || !errors.Is(l.err, worktree.ErrBounds) {
		return event.Warning{}, false
	}
	return event.Warning{Message: l.err.Error(), Kind: event.WarningLongHistory}, true
}

// warnings returns what the user must know after a walk. restored are the keys of the restored entries.
func (l *lostEntries) warnings(ctx context.Context, restored []string) []event.Warning {
	var list []event.Warning
	switch {
	case l == nil || l.LockSrc == nil:
		return nil
	case len(restored) > 0 && l.hasCopy():
		list = append(list, event.Warning{Message: warningOfRestored(restored, l.req.lockFile())})
	case len(restored) > 0:
		list = append(list, event.Warning{Message: fmt.Sprintf("the lock has lost its module blocks; they are taken from %s", l.from(ctx))})
	}
	if l.lostAll() && l.former == nil && l.files != nil && l.files.HasLockCopy() && l.user.hasState {
		list = append(list, event.Warning{Message: "the copy of the lock in .terraform is from another directory or user, as after copying or moving a project; it is ignored"})
	}
	if l.err != nil {
		list = append(list, warningOfHistory(l.err))
	}
	return list
}

func warningOfHistory(err error) event.Warning {
	w := event.Warning{Message: err.Error()}
	var end *worktree.HistoryEndError
	if _, foreign := errors.AsType[*gitdir.OwnerError](err); foreign {
		w.Kind = event.WarningRepositoryOwner
	} else if errors.As(err, &end) {
		w.Message = "the lock has no module blocks, and it is not known whether it had any: " + w.Message
		switch {
		case end.Shallow:
			w.Kind = event.WarningShallowHistory
		case end.Partial:
			w.Kind = event.WarningPartialHistory
		case errors.Is(end, worktree.ErrBounds):
			w.Kind = event.WarningLongHistory
		}
	}
	return w
}

func warningOfRestored(keys []string, lockFile string) string {
	if len(keys) == 1 {
		return fmt.Sprintf("%s had lost its entry for module %s, as happens when tofu or terraform rewrite it; it is put back from the copy of the last run", lockFile, keys[0])
	}
	return fmt.Sprintf("%s had lost its entries for %d modules (%s), as happens when tofu or terraform rewrite it; they are put back from the copy of the last run",
		lockFile, len(keys), strings.Join(shortened(keys), ", "))
}

const maxNamed = 5

func shortened(names []string) []string {
	if len(names) <= maxNamed {
		return names
	}
	return append(slices.Clone(names[:maxNamed]), "...")
}
