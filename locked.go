package cotter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/pkgcache"
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
	// stored are the packages of bundles and mirrors.
	stored *storedEntries
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
// if the origin, or a store, has confirmed this very entry before. A store is asked
// before the origin.
func (l *lockedEntries) place(ctx context.Context, c *call, entry lockfile.Module) (*placement, error) {
	confirmed := l.confirmed.hasEntry(c, entry)
	if p, err := l.placer.placeVendored(ctx, entry, confirmed); p != nil || err != nil {
		return p, err
	}
	checksTag := l.needsTagCheck(c, entry)
	if (!confirmed || checksTag) && l.stored.confirms(ctx, c, entry) {
		l.confirmed.add(c, entry, true)
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
	subdir, err := moduleSubdir(c.source, entry)
	if err != nil {
		return nil, err
	}
	if p, err := l.placer.fromCache(ctx, entry, subdir); !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	if l.stored.fetch(ctx, c, entry) {
		if p, err := l.placer.fromCache(ctx, entry, subdir); !errors.Is(err, fs.ErrNotExist) {
			return p, err
		}
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
// that the entry says with it, and places it. A package that is installed stays.
func (l *lockedEntries) placeFetched(ctx context.Context, c *call, entry lockfile.Module, confirmed bool) (*placement, error) {
	origin, err := l.askOrigin(ctx, c, entry, confirmed)
	got := origin.got
	if err == nil {
		err = checkHashes(entry, got, l.placer.lockedTree(entry))
	}
	if err == nil {
		entry, err = l.compareEntry(c, entry, got, origin.at.subdir)
	}
	if err == nil {
		err = origin.moved
	}
	if err != nil {
		return nil, c.failOnce(err)
	}
	l.confirmed.add(c, entry, origin.checksTag)
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

// originAnswer is what the origin of an entry has now.
type originAnswer struct {
	at  location
	got *fetched
	// checksTag says that the origin was asked whether the tag of the entry has moved,
	// and moved is its answer.
	checksTag bool
	moved     error
}

// askOrigin fetches the package of an entry from its origin into the cache, and asks
// beside that whether its tag has moved. An entry that is confirmed may come from what the
// cache has. A session does all of that once.
func (l *lockedEntries) askOrigin(ctx context.Context, c *call, entry lockfile.Module, confirmed bool) (originAnswer, error) {
	at, err := l.packages.locate(ctx, c, entry.Version)
	if err != nil {
		return originAnswer{}, err
	}
	at.unconfirmed = !confirmed
	answer := originAnswer{at: at, checksTag: l.needsTagCheck(c, entry)}
	moved := make(chan error, 1)
	go func() { moved <- l.packages.tagMoved(ctx, c, entry, at, answer.checksTag) }()
	answer.got, err = l.packages.fetch(ctx, c, at, lockedRevision(entry), entry.Hash("t1"))
	answer.moved = <-moved
	return answer, err
}

// checkTag checks that the tag of a confirmed entry has not moved.
func (l *lockedEntries) checkTag(ctx context.Context, c *call, entry lockfile.Module) error {
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
	l.packages.events.warn(c.path, what+"; the lock was corrected; the files are the same")
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

// An entry of the lock says that a source, at a version, means a directory of a
// package with certain hashes. Bytes can be compared with hashes anywhere; the rest
// only the origin can confirm. Packages that are installed or in the cache are used
// without asking for entries that were confirmed before: for the last run in this
// project, whose lock is kept beside the modules, or for any run that shares the
// cache. Both are proven to be this user's by the key in Installer.StateDir.

// confirmations are what origins have confirmed of a lock's entries.
type confirmations struct {
	// former is the lock of the last run in the project; nil if it is not known.
	former *lockfile.File
	// formerConfirmed says that all entries of former were confirmed: those of vendored
	// packages need not be.
	formerConfirmed bool
	// recorded reports whether the cache has a record.
	recorded func(record string) bool

	mu sync.Mutex
	// pending are the records that are to be kept.
	pending []string
}

// confirmationsOf returns what is known of confirmations in a project, by a cache
// that may not be open.
func confirmationsOf(p *openProject, cacheDir string) *confirmations {
	return &confirmations{former: p.former, formerConfirmed: p.formerConfirmed, recorded: func(record string) bool {
		return cacheDir != "" && pkgcache.IsConfirmed(cacheDir, p.key, record)
	}}
}

// hasEntry reports whether an origin has confirmed the entry for a call like this.
func (cs *confirmations) hasEntry(c *call, entry lockfile.Module) bool {
	return cs.isFormer(entry) || cs.recorded(record(c, entry))
}

// hasName reports whether an origin has confirmed that the tag by which the entry
// was locked points to its revision.
func (cs *confirmations) hasName(c *call, entry lockfile.Module) bool {
	return cs.isFormer(entry) || cs.recorded(byName+record(c, entry))
}

// add notes that the origin confirmed an entry, and with name also its tag.
func (cs *confirmations) add(c *call, entry lockfile.Module, name bool) {
	text := record(c, entry)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.pending = append(cs.pending, text)
	if name {
		cs.pending = append(cs.pending, byName+text)
	}
}

// keep records what was added in the cache, for later runs. A cache may be
// read-only: the origins are asked again then.
func (cs *confirmations) keep(cache *pkgcache.Cache) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	_ = cache.Confirm(cs.pending...)
	cs.pending = nil
}

// formerEntry returns the entry that the last run in this project had.
func (cs *confirmations) formerEntry(key string) (lockfile.Module, bool) {
	if cs.former == nil {
		return lockfile.Module{}, false
	}
	return cs.former.Module(key)
}

// isFormer reports whether the last run in this project had the same entry.
func (cs *confirmations) isFormer(entry lockfile.Module) bool {
	old, ok := cs.formerEntry(entry.Key)
	return ok && cs.formerConfirmed && statement(old) == statement(entry)
}

// byName is in front of a record that was confirmed by the name of its revision.
const byName = "by name: "

// record is what the cache keeps of an entry for a call. A call in a package may
// use fewer places than one of the user's own.
func record(c *call, entry lockfile.Module) string {
	return recordOf(modpkg.StatementOf(entry), c.fromPackage())
}

func recordOf(statement modpkg.Statement, fromPackage bool) string {
	if fromPackage {
		return "in a package: " + statement.String()
	}
	return statement.String()
}

// recordsOf are all records of a statement that is confirmed for any call, also by the
// name of its revision.
func recordsOf(statement modpkg.Statement) []string {
	texts := []string{recordOf(statement, false)}
	if pkg, _ := lockedPackage(lockfile.Module{Package: statement.Package}); pkg.Getter() != "file" {
		texts = append(texts, recordOf(statement, true))
	}
	for _, text := range texts[:len(texts):len(texts)] {
		texts = append(texts, byName+text)
	}
	return texts
}

// statement is what an entry says, in one text.
func statement(entry lockfile.Module) string { return modpkg.StatementOf(entry).String() }
