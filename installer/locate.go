package installer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/stores"
	"github.com/cotterpin/cotter/lockfile"
)

// locator finds the packages of lock entries, on the ladder of package lockentry. Package evidence
// says what is enough for the run.
type locator struct {
	origins *origins.Origins
	// stores has the packages of bundles and mirrors.
	stores    *stores.Stores
	stager    *stager
	events    *events
	run       *trust
	revisions *revisions
	outcome   *outcome
	locked    bool
}

// use returns the placement of a call's entry, and the directory of the module in the
// package. The entry must match the call, except for its constraint.
func (l *locator) use(ctx context.Context, c *call, entry lockfile.Module) (*placement, string, error) {
	switch {
	case l.locked && !entry.Constraints.Equal(c.from.Want):
		return nil, "", l.outcome.refusals.note(LockedReason{Path: c.path, Range: c.placeOfVersion(), Reason: c.constraintChanged(entry)})
	case l.locked && entry.Replaces != c.replaces():
		return nil, "", l.outcome.refusals.add(c, c.replacesChanged(entry))
	}
	return l.want(c, entry).locate(ctx)
}

// useSameSource is like use, for an entry of another call of the same source.
func (l *locator) useSameSource(ctx context.Context, c *call, entry lockfile.Module) (*placement, string, error) {
	entry.Key = c.key()
	w := l.want(c, entry)
	w.isOther = true
	return w.locate(ctx)
}

// locate returns the placement of the entry, and the directory of the module in the package.
func (w *wanted) locate(ctx context.Context) (*placement, string, error) {
	c := w.call
	w.entry.Constraints, w.entry.Replaces = c.from.Want, c.replaces()
	if err := w.revisions.checkCommit(ctx, w.lockedCall); err != nil {
		return nil, "", c.fail(err)
	}
	p, e, err := w.ladder(ctx).Climb(ctx)
	if err != nil {
		return nil, "", c.failOnce(err)
	}
	p.evidence = e
	subdir, err := c.from.LockedSubdir(p.entry)
	if err == nil {
		subdir, err = p.tree.Subdir(subdir)
	}
	return p, subdir, c.failIf(err)
}

// prefetch asks for the evidence that a call's entry lacks, and gets its package from where the
// evidence comes from. It places nothing. The walk does the same later, and gets the answers
// that the pool remembers.
func (l *locator) prefetch(ctx context.Context, c *call, entry lockfile.Module, isInstalled bool) {
	w := l.want(c, entry)
	e := w.ladder(ctx).Confirm(ctx)
	switch {
	case e.IsZero():
		_, _ = w.ask(ctx)
	case !w.byMirror:
		_ = w.check(ctx, e)
	case !isInstalled && !l.stager.Cache.Has(entry.Hash("t1")):
		l.stores.Fetch(ctx, c.from, entry)
	}
	_ = w.revisions.checkCommit(ctx, w.lockedCall)
}

// needsRequests reports whether evidence is lacking that only a mirror or an origin can give.
// isInstalled says that some package is installed for the call.
func (l *locator) needsRequests(c *call, entry lockfile.Module, isInstalled bool) bool {
	w := l.want(c, entry)
	if l.run.believesInstalled() && isInstalled {
		return false // the walk compares it with the entry
	}
	return l.run.find(w.statements.Package).IsZero() || l.revisions.needsRef(w.lockedCall) || l.revisions.needsHistory(w.lockedCall)
}

// wanted is a lock entry whose package is wanted for a call.
type wanted struct {
	*locator
	lockedCall
	// byMirror says that a mirror or a bundle has confirmed the entry in this run, including
	// its ref.
	byMirror bool
	// isOther says that the lock has the entry for another call.
	isOther bool
	// believed is the installed package, if the run believes what is installed.
	believed *placement
}

// checkCommit applies the policies to the commit of a new entry.
func (l *locator) checkCommit(ctx context.Context, c *call, entry lockfile.Module) error {
	return l.revisions.checkCommit(ctx, l.want(c, entry).lockedCall)
}

func (l *locator) want(c *call, entry lockfile.Module) *wanted {
	return &wanted{locator: l, lockedCall: lockedCall{c, entry, lockentry.StatementsOf(entry, c.from.FromPackage)}}
}

func (w *wanted) ladder(ctx context.Context) lockentry.Ladder[*placement] {
	return lockentry.Ladder[*placement]{
		Brought:    w.vendored,
		Remembered: func() evidence.Evidence { return w.remembered(ctx) },
		Mirrors:    w.mirrors,
		Accepts:    w.run.rule.Accepts,
		Check:      w.check,
		AtHand:     []lockentry.Lookup[*placement]{w.installed, w.cached, w.mirrored},
		Deliver:    w.deliver,
		Origin:     w.fromOrigin,
	}
}

// remembered returns the evidence of an earlier run. If the run believes what is installed, and the
// entry's package is installed, that is the evidence if there is no other.
func (w *wanted) remembered(ctx context.Context) evidence.Evidence {
	if w.run.believesInstalled() && !w.isOther && w.stager.vendored == nil {
		w.believed, _ = w.stager.installedPackage(ctx, w.entry) // an error is that of the next step
	}
	e := w.run.find(w.statements.Package)
	if e.IsZero() && w.believed != nil {
		e.Kind = evidence.Installed
	}
	return e
}

// vendored returns the package in the user's repository, if the project vendors.
func (w *wanted) vendored(ctx context.Context) (*placement, evidence.Evidence, bool, error) {
	if w.isOther {
		return nil, evidence.Evidence{}, false, nil // only the other call has a directory
	}
	p, err := w.stager.vendoredPackage(ctx, w.entry)
	if p == nil || err != nil {
		return nil, evidence.Evidence{}, false, err
	}
	return p, w.run.evidenceOf(w.entry, w.from.FromPackage, true), true, nil
}

// mirrors asks the mirrors and bundles to confirm the entry.
func (w *wanted) mirrors(ctx context.Context) evidence.Evidence {
	e := w.stores.Confirm(ctx, w.from, w.entry)
	if w.byMirror = w.run.rule.Accepts(e) && !e.IsZero(); w.byMirror {
		w.run.memos.Add(e, w.statements.Package, w.statements.Ref)
	}
	return e
}

// installed returns the package that is installed for the call.
func (w *wanted) installed(ctx context.Context) (*placement, bool, error) {
	if w.believed != nil {
		return w.believed, true, nil
	}
	p, err := w.stager.installedPackage(ctx, w.entry)
	return p, p != nil, err
}

// cached returns the package from the user's cache.
func (w *wanted) cached(ctx context.Context) (*placement, bool, error) {
	subdir, err := w.from.LockedSubdir(w.entry)
	if err != nil {
		return nil, false, err
	}
	p, err := w.stager.fromCache(ctx, w.entry, subdir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return p, err == nil, err
}

// mirrored returns the package from a mirror or a bundle.
func (w *wanted) mirrored(ctx context.Context) (*placement, bool, error) {
	if !w.stores.Fetch(ctx, w.from, w.entry) {
		return nil, false, nil
	}
	return w.cached(ctx)
}

// deliver fetches the package of a confirmed entry from its origin.
func (w *wanted) deliver(ctx context.Context, _ evidence.Evidence) (*placement, error) {
	at, err := w.origins.Locate(ctx, w.from, w.entry.Version)
	if err != nil {
		return nil, err
	}
	got, err := w.origins.Fetch(ctx, w.from, at, origins.Pin{Revision: w.entry.Revision(), Tree: w.entry.Hash("t1")})
	if err == nil {
		err = w.compare(got, at)
	}
	if err != nil {
		return nil, err
	}
	return w.stageFetched(ctx, got)
}

// fromOrigin asks the origin about an entry that nothing has confirmed, and fetches its package.
// If the entry turns out to be right and its package is installed, the installed package is kept.
func (w *wanted) fromOrigin(ctx context.Context) (*placement, evidence.Evidence, error) {
	answer, err := w.ask(ctx)
	if errors.Is(err, ErrOffline) {
		return nil, evidence.Evidence{}, ErrUnconfirmedOffline
	}
	if err == nil {
		err = w.compare(answer.got, answer.at)
	}
	if err == nil {
		err = answer.revision.err
	}
	if err != nil {
		return nil, evidence.Evidence{}, err
	}
	e := w.remember(answer.revision)
	if p, err := w.stager.installedPackage(ctx, w.entry); p != nil || err != nil {
		if p != nil {
			p.refetched = answer.got.Bytes
		}
		return p, e, err
	}
	p, err := w.stageFetched(ctx, answer.got)
	return p, e, err
}

// originAnswer is what the origin of an entry has now.
type originAnswer struct {
	at       origins.Location
	got      *origins.Fetched
	revision revisionProof
}

// ask fetches the package of an entry from its origin into the cache. At the same time it asks
// about the entry's revision. A pool does each of these things only once.
func (w *wanted) ask(ctx context.Context) (originAnswer, error) {
	at, err := w.origins.Locate(ctx, w.from, w.entry.Version)
	if err != nil {
		return originAnswer{}, err
	}
	revision := make(chan revisionProof, 1)
	go func() { revision <- w.revisions.prove(ctx, w.lockedCall, at) }()
	got, err := w.origins.Fetch(ctx, w.from, at, origins.Pin{Revision: w.entry.Revision(), Tree: w.entry.Hash("t1"), Fresh: true})
	return originAnswer{at: at, got: got, revision: <-revision}, err
}

// stageFetched places a fetched package.
func (w *wanted) stageFetched(ctx context.Context, got *origins.Fetched) (*placement, error) {
	subdir, err := w.from.LockedSubdir(w.entry)
	if err != nil {
		return nil, err
	}
	return w.stager.fromFetch(ctx, w.entry, subdir, got)
}

// compare compares the entry with the package from its origin, and corrects the entry if the
// lock may change.
func (w *wanted) compare(got *origins.Fetched, at origins.Location) error {
	if err := checkHashes(w.entry, got, w.stager.dirs.LockedTree(w.entry)); err != nil {
		return err
	}
	corrected, err := w.compareEntry(w.call, w.entry, got, at.Subdir)
	if err != nil {
		return err
	}
	w.entry, w.statements = corrected, lockentry.StatementsOf(corrected, w.from.FromPackage)
	return nil
}

// checkHashes compares a fetched package with an entry of the lock. former is the tree of
// the entry; nil if it is not known.
func checkHashes(entry lockfile.Module, got *origins.Fetched, former *store.Tree) error {
	mismatch := &HashMismatchError{Path: pathOf(entry.Key), Package: got.Resolved.Redacted(), Gitlinks: got.Gitlinks}
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
func (l *locator) compareEntry(c *call, entry lockfile.Module, got *origins.Fetched, located string) (lockfile.Module, error) {
	_, lockedSubdir := entry.SplitPackage()
	subdir, err := got.Tree.Subdir(located)
	if err != nil {
		return entry, err
	}
	if entry.Package != "" && store.CleanSubdir(subdir) != store.CleanSubdir(lockedSubdir) {
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
		return entry, l.outcome.refusals.add(c, what)
	}
	l.events.warn(c.path, what+"; the lock was corrected; the files are the same")
	return exact, nil
}

// remember keeps what the origin has said about an entry, and returns the evidence.
func (w *wanted) remember(revision revisionProof) evidence.Evidence {
	e := evidence.Evidence{Kind: revision.kind}
	w.run.memos.Add(e, w.statements.Package)
	if revision.pointed {
		w.run.memos.Add(e, w.statements.Ref)
	}
	return e
}

// check asks a mirror or the origin whether the ref of a confirmed entry still points to the
// locked revision, if the run needs to know.
func (w *wanted) check(ctx context.Context, _ evidence.Evidence) error {
	if w.byMirror || w.believed != nil || !w.revisions.needsRef(w.lockedCall) {
		return nil
	}
	if w.mirrors(ctx); w.byMirror {
		return nil
	}
	at, err := w.origins.Locate(ctx, w.from, w.entry.Version)
	if err != nil {
		return err
	}
	proof := w.revisions.prove(ctx, w.lockedCall, at)
	if proof.err == nil {
		w.remember(proof)
	}
	return proof.err
}
