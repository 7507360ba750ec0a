package cotter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/lockfile"
)

// lockedEntries puts the packages of the lock's entries in their places: what is
// installed, what is in the cache, or what the origin has.
type lockedEntries struct {
	packages  *packages
	placer    *placer
	confirmed *confirmations
	refusals  *refusals
	locked    bool
	// restored are the entries that the lock had lost.
	restored *restoredEntries
}

// use returns the placement of a call's entry, and the directory of the module in
// it. The entry fits the call.
func (l *lockedEntries) use(ctx context.Context, c *call, entry lockfile.Module) (*placement, string, error) {
	if l.locked && entry.Constraints != c.want.String() {
		return nil, "", l.refusals.add(c, c.constraintChanged(entry))
	}
	entry.Constraints = c.want.String()
	p, err := l.place(ctx, c, entry)
	if err != nil {
		return nil, "", c.failOnce(err)
	}
	subdir, err := moduleSubdir(c.source, p.entry)
	if err == nil {
		subdir, err = expandSubdir(p.tree, subdir)
	}
	return p, subdir, c.failIf(err)
}

// place returns the placement of an entry. What is at hand is used without asking
// if the origin has confirmed this very entry before.
func (l *lockedEntries) place(ctx context.Context, c *call, entry lockfile.Module) (*placement, error) {
	if !l.confirmed.hasEntry(c, entry) {
		return l.placeUnconfirmed(ctx, c, entry)
	}
	if err := l.checkTag(ctx, c, entry); err != nil {
		return nil, err
	}
	if p, err := l.placer.installedPackage(ctx, entry); p != nil || err != nil {
		return p, err
	}
	subdir, err := moduleSubdir(c.source, entry)
	if err != nil {
		return nil, err
	}
	if p, err := l.placer.fromCache(ctx, entry, subdir); !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	return l.placeFetched(ctx, c, entry, true)
}

// placeUnconfirmed returns the placement of an entry after its origin has confirmed
// it.
func (l *lockedEntries) placeUnconfirmed(ctx context.Context, c *call, entry lockfile.Module) (*placement, error) {
	p, err := l.placeFetched(ctx, c, entry, false)
	if errors.Is(err, ErrOffline) {
		return nil, c.fail(fmt.Errorf("no origin has confirmed the lock's entry for it on this machine, and %w", ErrOffline))
	}
	return p, err
}

// placeFetched fetches the package of an entry from its origin, compares everything
// that the entry says with it, and places it. A package that is installed stays. An
// entry that is confirmed may come from what the cache has.
func (l *lockedEntries) placeFetched(ctx context.Context, c *call, entry lockfile.Module, confirmed bool) (*placement, error) {
	at, err := l.packages.locate(ctx, c, entry.Version)
	if err != nil {
		return nil, err
	}
	checksTag := l.needsTagCheck(c, entry)
	moved := make(chan error, 1)
	go func() { moved <- l.packages.tagMoved(ctx, c, entry, at, checksTag) }() // while the package is fetched
	at.unconfirmed = !confirmed
	got, err := l.packages.fetch(ctx, c, at, lockedRevision(entry), entry.Hash("t1"))
	movedErr := <-moved
	if err == nil {
		err = checkHashes(entry, got, l.placer.installed.LockedTree(entry))
	}
	if err == nil {
		entry, err = l.compareEntry(c, entry, got, at.subdir)
	}
	if err == nil {
		err = movedErr
	}
	if err != nil {
		return nil, c.failOnce(err)
	}
	l.confirmed.add(c, entry, checksTag)
	if !confirmed {
		if p, err := l.placer.installedPackage(ctx, entry); p != nil || err != nil {
			return p, err
		}
	}
	subdir, err := moduleSubdir(c.source, entry)
	if err != nil {
		return nil, err
	}
	return l.placer.fromFetch(ctx, entry, subdir, got)
}

// checkTag checks that the tag of a confirmed entry has not moved, if that is to be
// checked and was not before.
func (l *lockedEntries) checkTag(ctx context.Context, c *call, entry lockfile.Module) error {
	if !l.needsTagCheck(c, entry) {
		return nil
	}
	at, err := l.packages.locate(ctx, c, entry.Version)
	if err != nil {
		return err
	}
	if err := l.packages.tagMoved(ctx, c, entry, at, true); err != nil {
		return err
	}
	l.confirmed.add(c, entry, true)
	return nil
}

// needsTagCheck reports whether the run asks if the tag of an entry still points to
// the locked revision. A run that may not change the lock does, once. Others keep to
// the locked revision, but for two kinds of entries: one that the lock had lost, and
// one that has changed but not its hashes, which is seldom a new version.
func (l *lockedEntries) needsTagCheck(c *call, entry lockfile.Module) bool {
	if l.packages.offline {
		return false
	}
	if l.restored.has(entry.Key) {
		return true
	}
	if l.confirmed.hasName(c, entry) {
		return false
	}
	old, ok := l.confirmed.formerEntry(entry.Key)
	return l.locked || ok && slices.Equal(old.Hashes, entry.Hashes)
}

// checkHashes compares what was fetched with an entry of the lock. former is the
// tree of the entry; nil if it is not known.
func checkHashes(entry lockfile.Module, got *fetched, former *pkgtree.Tree) error {
	mismatch := &HashMismatchError{Key: entry.Key, Package: got.resolved.Redacted(), Gitlinks: got.gitlinks}
	for _, want := range entry.Hashes {
		have := got.tree.Hash(want.Scheme())
		if have != "" && have != want {
			mismatch.Want = append(mismatch.Want, want)
			mismatch.Got = append(mismatch.Got, have)
		}
	}
	if mismatch.Want == nil {
		return nil
	}
	if former != nil {
		mismatch.Changes = hashing.Diff(former.Tree, got.tree.Tree)
	}
	return mismatch
}

// compareEntry compares an entry with what its package gives, whose hashes are
// right. Another directory of the package would be another module: that is an
// error. All else that differs is corrected if the lock may change.
func (l *lockedEntries) compareEntry(c *call, entry lockfile.Module, got *fetched, located string) (lockfile.Module, error) {
	_, lockedSubdir := lockedPackage(entry)
	subdir, err := expandSubdir(got.tree, located)
	if err != nil {
		return entry, err
	}
	if entry.Package != "" && cleanSubdir(subdir) != cleanSubdir(lockedSubdir) {
		return entry, fmt.Errorf("the lock says that the package's modules begin in the directory %q, and its origin says %q", lockedSubdir, subdir)
	}
	exact := entry
	exact.Package, exact.Hashes = packageAddress(got.resolved, subdir), got.hashes()
	for _, h := range entry.Hashes {
		if !h.Known() {
			exact.Hashes = append(exact.Hashes, h)
		}
	}
	differing := differences(entry, exact)
	if len(differing) == 0 {
		return entry, nil
	}
	what := "the lock is not what its origin gives: " + strings.Join(differing, ", ")
	if l.locked {
		return entry, l.refusals.add(c, what)
	}
	l.packages.events.warn(c.path, what+"; the lock is put right, for the files are the same")
	return exact, nil
}

// differences says what two entries for one call say differently of its package.
func differences(a, b lockfile.Module) []string {
	var list []string
	add := func(what, a, b string) {
		if a != b {
			list = append(list, fmt.Sprintf("its %s is %q and not %q", what, a, b))
		}
	}
	add("version", a.Version, b.Version)
	add("source", a.Source, b.Source)
	add("package", a.Package, b.Package)
	for _, scheme := range []string{"h1", "t1", "zh"} {
		add(scheme+" hash", string(a.Hash(scheme)), string(b.Hash(scheme)))
	}
	return list
}

// moduleSubdir returns the directory of a call's module in the package of an entry:
// what the origin meant, and below that what the call says. It may be a pattern.
func moduleSubdir(source addrs.ModuleSource, entry lockfile.Module) (string, error) {
	_, located := lockedPackage(entry)
	return joinSubdir(source, located)
}

// joinSubdir returns the directory of a call's module in its package, by the
// directory that the origin means.
func joinSubdir(source addrs.ModuleSource, located string) (string, error) {
	switch source := source.(type) {
	case addrs.ModuleSourceRegistry:
		subdir, err := addrs.JoinSubdir(located, source.Subdir)
		return cleanSubdir(subdir), err
	case addrs.ModuleSourceRemote:
		return cleanSubdir(source.Subdir), nil
	}
	return "", nil
}

// restoredEntries are entries that the lock had after the last run and has lost
// since. Stock tools drop module blocks when they rewrite their provider locks. To
// select again without a word would make the lock worthless.
type restoredEntries struct {
	mu      sync.Mutex
	entries map[string]lockfile.Module
}

func (r *restoredEntries) add(entry lockfile.Module) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries == nil {
		r.entries = make(map[string]lockfile.Module)
	}
	r.entries[entry.Key] = entry
}

func (r *restoredEntries) any() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.entries) > 0
}

func (r *restoredEntries) has(key string) bool {
	_, ok := r.entry(key)
	return ok
}

func (r *restoredEntries) entry(key string) (lockfile.Module, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry, ok := r.entries[key]
	return entry, ok
}

// warning tells the user what is restored; "" if nothing is.
func (r *restoredEntries) warning(lockFile string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := slices.Sorted(maps.Keys(r.entries))
	switch len(keys) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s had lost its entry for module %s, as when tofu or terraform rewrite it; it is put back from the copy of the last run", lockFile, keys[0])
	}
	return fmt.Sprintf("%s had lost its entries for %d modules (%s), as when tofu or terraform rewrite it; they are put back from the copy of the last run",
		lockFile, len(keys), strings.Join(shortened(keys), ", "))
}

// maxNamed is how many names a sentence lists.
const maxNamed = 5

func shortened(names []string) []string {
	if len(names) <= maxNamed {
		return names
	}
	return append(slices.Clone(names[:maxNamed]), "...")
}
