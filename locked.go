package cotter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/stores"
	"github.com/cotterpin/cotter/lockfile"
)

// lockedEntries places the packages of lock entries: an installed package, one from the
// cache or a store, or one that is fetched from the origin.
type lockedEntries struct {
	origins   *origins.Origins
	placer    *placer
	events    *events
	confirmed *lockentry.Confirmations
	found     *findings
	locked    bool
	// stores has the packages of bundles and mirrors.
	stores *stores.Stores
}

// use returns the placement of a call's entry, and the directory of the module in the
// package. The entry must match the call, except for its constraint.
func (l *lockedEntries) use(ctx context.Context, c *call, entry lockfile.Module) (*placement, string, error) {
	if l.locked && entry.Constraints != c.from.Want.String() {
		return nil, "", l.found.refusals.add(c, c.constraintChanged(entry))
	}
	entry.Constraints = c.from.Want.String()
	p, err := l.place(ctx, c, entry)
	if err != nil {
		return nil, "", c.failOnce(err)
	}
	subdir, err := c.from.LockedSubdir(p.entry)
	if err == nil {
		subdir, err = p.tree.Subdir(subdir)
	}
	return p, subdir, c.failIf(err)
}

// place returns the placement of an entry. If the origin or a store has confirmed this
// exact entry before, an installed or cached package is used without a request. Stores are
// asked before the origin.
func (l *lockedEntries) place(ctx context.Context, c *call, entry lockfile.Module) (*placement, error) {
	confirmed := l.confirmed.HasEntry(entry, c.from.FromPackage)
	if p, err := l.placer.placeVendored(ctx, entry, confirmed); p != nil || err != nil {
		return p, err
	}
	checksTag := l.needsTagCheck(c, entry)
	if (!confirmed || checksTag) && l.stores.Confirms(ctx, c.from, entry) {
		l.confirmed.Add(entry, c.from.FromPackage, true)
		confirmed, checksTag = true, false
	}
	if !confirmed {
		return l.placeUnconfirmed(ctx, c, entry)
	}
	if checksTag {
		if err := l.checkTag(ctx, c, entry); err != nil {
			return nil, err
		}
	}
	if p, err := l.placer.installedPackage(ctx, entry); p != nil || err != nil {
		return p, err
	}
	subdir, err := c.from.LockedSubdir(entry)
	if err != nil {
		return nil, err
	}
	if p, err := l.placer.fromCache(ctx, entry, subdir); !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	if l.stores.Fetch(ctx, c.from, entry) {
		if p, err := l.placer.fromCache(ctx, entry, subdir); !errors.Is(err, fs.ErrNotExist) {
			return p, err
		}
	}
	return l.placeFetched(ctx, c, entry, true)
}

// placeUnconfirmed returns the placement of an entry after its origin has confirmed the
// entry.
func (l *lockedEntries) placeUnconfirmed(ctx context.Context, c *call, entry lockfile.Module) (*placement, error) {
	p, err := l.placeFetched(ctx, c, entry, false)
	if errors.Is(err, ErrOffline) {
		return nil, c.fail(fmt.Errorf("no origin has confirmed the lock's entry for it on this machine, and %w", ErrOffline))
	}
	return p, err
}

// placeFetched fetches the package of an entry from its origin, compares all data of the
// entry with it, and places it. If an unconfirmed entry turns out to be right and its
// package is installed, the installed package is kept.
func (l *lockedEntries) placeFetched(ctx context.Context, c *call, entry lockfile.Module, confirmed bool) (*placement, error) {
	origin, err := l.askOrigin(ctx, c, entry, confirmed)
	got := origin.got
	if err == nil {
		err = checkHashes(entry, got, l.placer.dirs.LockedTree(entry))
	}
	if err == nil {
		entry, err = l.compareEntry(c, entry, got, origin.at.Subdir)
	}
	if err == nil {
		err = origin.moved
	}
	if err != nil {
		return nil, c.failOnce(err)
	}
	l.confirmed.Add(entry, c.from.FromPackage, origin.checksTag)
	if !confirmed {
		if p, err := l.placer.installedPackage(ctx, entry); p != nil || err != nil {
			return p, err
		}
	}
	subdir, err := c.from.LockedSubdir(entry)
	if err != nil {
		return nil, err
	}
	return l.placer.fromFetch(ctx, entry, subdir, got)
}

// originAnswer is what the origin of an entry has now.
type originAnswer struct {
	at  origins.Location
	got *origins.Fetched
	// checksTag says that the origin was asked whether the tag of the entry has moved.
	// moved is the result.
	checksTag bool
	moved     error
}

// askOrigin fetches the package of an entry from its origin into the cache. At the same
// time it asks whether the tag of the entry has moved. The package of a confirmed entry may
// be taken from the cache. A session does each of these things only once.
func (l *lockedEntries) askOrigin(ctx context.Context, c *call, entry lockfile.Module, confirmed bool) (originAnswer, error) {
	at, err := l.origins.Locate(ctx, c.from, entry.Version)
	if err != nil {
		return originAnswer{}, err
	}
	at.Unconfirmed = !confirmed
	answer := originAnswer{at: at, checksTag: l.needsTagCheck(c, entry)}
	moved := make(chan error, 1)
	go func() { moved <- l.tagMoved(ctx, c, entry, at, answer.checksTag) }()
	answer.got, err = l.origins.Fetch(ctx, c.from, at, entry.Revision(), entry.Hash("t1"))
	answer.moved = <-moved
	return answer, err
}

// tagMoved returns a *MovedError if the name of an entry points to something else now, or
// the error of asking the origin.
func (l *lockedEntries) tagMoved(ctx context.Context, c *call, entry lockfile.Module, at origins.Location, ask bool) error {
	moved, err := l.origins.Moved(ctx, c.from, entry, at, ask)
	if moved == nil {
		return err
	}
	return &MovedError{Key: entry.Key, Name: moved.Name, Locked: moved.Locked, Now: moved.Now}
}

// checkTag checks that the tag of a confirmed entry has not moved.
func (l *lockedEntries) checkTag(ctx context.Context, c *call, entry lockfile.Module) error {
	at, err := l.origins.Locate(ctx, c.from, entry.Version)
	if err != nil {
		return err
	}
	if err := l.tagMoved(ctx, c, entry, at, true); err != nil {
		return err
	}
	l.confirmed.Add(entry, c.from.FromPackage, true)
	return nil
}

// needsTagCheck reports whether the run asks if the tag of an entry still points to the
// locked revision. A run that must not change the lock asks, once. Other runs keep the
// locked revision and ask only about two kinds of entries: those that the lock had lost,
// and those that were changed while their hashes were not, because such a change is rarely
// a new version.
func (l *lockedEntries) needsTagCheck(c *call, entry lockfile.Module) bool {
	if l.origins.Offline {
		return false
	}
	if l.found.restored.Has(entry.Key) {
		return true
	}
	if l.confirmed.HasName(entry, c.from.FromPackage) {
		return false
	}
	old, ok := l.confirmed.FormerEntry(entry.Key)
	return l.locked || ok && slices.Equal(old.Hashes, entry.Hashes)
}

// checkHashes compares a fetched package with an entry of the lock. former is the tree of
// the entry; nil if it is not known.
func checkHashes(entry lockfile.Module, got *origins.Fetched, former *pkgtree.Tree) error {
	mismatch := &HashMismatchError{Key: entry.Key, Package: got.Resolved.Redacted(), Gitlinks: got.Gitlinks}
	for _, want := range entry.Hashes {
		have := got.Tree.Hash(want.Scheme())
		if have != "" && have != want {
			mismatch.Want = append(mismatch.Want, want)
			mismatch.Got = append(mismatch.Got, have)
		}
	}
	if mismatch.Want == nil {
		return nil
	}
	if former != nil {
		mismatch.Changes = hashing.Diff(former.Tree, got.Tree.Tree)
	}
	return mismatch
}

// compareEntry compares an entry with the package from its origin, whose hashes have been
// checked. A different directory in the package is an error, because it would be another
// module. All other differences are corrected if the lock may change.
func (l *lockedEntries) compareEntry(c *call, entry lockfile.Module, got *origins.Fetched, located string) (lockfile.Module, error) {
	_, lockedSubdir := entry.SplitPackage()
	subdir, err := got.Tree.Subdir(located)
	if err != nil {
		return entry, err
	}
	if entry.Package != "" && pkgtree.CleanSubdir(subdir) != pkgtree.CleanSubdir(lockedSubdir) {
		return entry, fmt.Errorf("the lock says that the package's modules begin in the directory %q, and its origin says %q", lockedSubdir, subdir)
	}
	exact := entry
	exact.Package, exact.Hashes = lockentry.PackageAddress(got.Resolved, subdir), got.Hashes()
	for _, h := range entry.Hashes {
		if !h.Known() {
			exact.Hashes = append(exact.Hashes, h)
		}
	}
	differing := lockentry.Differences(entry, exact)
	if len(differing) == 0 {
		return entry, nil
	}
	what := "the lock does not match the origin: " + strings.Join(differing, ", ")
	if l.locked {
		return entry, l.found.refusals.add(c, what)
	}
	l.events.warn(c.path, what+"; the lock was corrected; the files are the same")
	return exact, nil
}

// refusals collects the module calls without a usable lock entry, in a run that must not
// change the lock. They are reported together.
type refusals struct {
	mu      sync.Mutex
	reasons []LockedReason
}

// add records why the entry of a call cannot be used, and returns errRefused.
func (r *refusals) add(c *call, reason string) error {
	return r.note(LockedReason{Key: c.key(), Range: c.Range, Reason: reason})
}

// addMissing is like add, for a call without an entry.
func (r *refusals) addMissing(c *call, reason string) error {
	return r.note(LockedReason{Key: c.key(), Range: c.Range, Reason: reason, Missing: true})
}

func (r *refusals) note(reason LockedReason) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reasons = append(r.reasons, reason)
	return errRefused
}

// err returns all collected refusals as one error, or nil.
func (r *refusals) err(lockFile string) error {
	if len(r.reasons) == 0 {
		return nil
	}
	slices.SortFunc(r.reasons, func(a, b LockedReason) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), a.Provider.Compare(b.Provider))
	})
	return &LockedError{LockFile: lockFile, Reasons: r.reasons}
}

// warningOfRestored returns the warning about restored entries; "" if there are none.
func warningOfRestored(restored *lockentry.Restored, lockFile string) string {
	keys := restored.Keys()
	switch len(keys) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s had lost its entry for module %s, as happens when tofu or terraform rewrite it; it is put back from the copy of the last run", lockFile, keys[0])
	}
	return fmt.Sprintf("%s had lost its entries for %d modules (%s), as happens when tofu or terraform rewrite it; they are put back from the copy of the last run",
		lockFile, len(keys), strings.Join(shortened(keys), ", "))
}

// maxNamed is the maximum number of names in a sentence.
const maxNamed = 5

func shortened(names []string) []string {
	if len(names) <= maxNamed {
		return names
	}
	return append(slices.Clone(names[:maxNamed]), "...")
}
