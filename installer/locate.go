package installer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/lockentry"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/internal/store/storefetch"
	"github.com/cotterpin/cotter/lockfile"
)

// locator finds the packages of lock entries, on the ladder of package lockentry. Package evidence says what is
// enough for the run.
type locator struct {
	origins   *origins.Origins
	stores    *storefetch.Stores
	stager    *stager
	events    *events
	run       *trust
	revisions *revisions
	locked    bool
}

// locate returns the placement of a call's entry, and the directory of the module in the package. The entry
// must match the call, except for its constraint.
func (l *locator) locate(ctx context.Context, found lockedCall) (*placement, string, error) {
	c, w := found.call, l.want(found)
	w.entry.Key, w.entry.Constraints = c.Key(), c.From.Recorded
	w.entry.Replaced = nil // that is of the call, and added when the lock is planned
	if !l.locked {         // the entry may lack arguments
		w.entry.Source, w.entry.Replaces = c.From.LockAddress(), c.Replaces()
	}
	if err := l.revisions.checkCommit(ctx, w.lockedCall); err != nil {
		return nil, "", c.Fail(err)
	}
	p, e, err := w.ladder(ctx).Climb(ctx)
	if err != nil {
		return nil, "", failOnce(c, err)
	}
	p.evidence = e
	subdir, err := subdirOf(c, p.Entry, p)
	return p, subdir, c.FailIf(err)
}

// subdirOf returns the directory of the called module in the package of an entry.
func subdirOf(c *call, entry lockfile.Module, pkg *placement) (string, error) {
	subdir, err := c.From.LockedSubdir(entry)
	if err != nil {
		return "", err
	}
	return pkg.tree.Subdir(subdir)
}

// prefetch asks for the evidence that a call's entry lacks, and gets its package from where that comes from. It
// places nothing. The walk does the same later, and gets the answers that the pool remembers.
func (l *locator) prefetch(ctx context.Context, found lockedCall, isInstalled bool) {
	w := l.want(found)
	e := w.ladder(ctx).Confirm(ctx)
	switch {
	case e.IsZero():
		_, _ = w.ask(ctx)
	case !w.byMirror:
		_ = w.check(ctx, e)
	case !isInstalled && !l.stager.Cache.Has(w.entry.Hash("t1")):
		l.stores.Fetch(ctx, w.call.From, w.entry)
	}
	_ = l.revisions.checkCommit(ctx, w.lockedCall)
}

// needsRequests reports whether evidence is lacking that only a mirror or an origin can give. isInstalled says
// that some package is installed for the call.
func (l *locator) needsRequests(found lockedCall, isInstalled bool) bool {
	if l.run.believesInstalled() && isInstalled {
		return false // the walk compares it with the entry
	}
	return l.run.find(found.statements.Package).IsZero() || l.revisions.needsRef(found) || l.revisions.needsHistory(found)
}

type wanted struct {
	lockedCall
	// recorded is the source of the entry as it was read.
	recorded addrs.ModuleSource
	by       *locator
	// byMirror says that a mirror or a bundle has confirmed the entry in this run, including its ref.
	byMirror bool
	// believed is the installed package, if the run believes what is installed.
	believed *placement
}

func (l *locator) want(found lockedCall) *wanted {
	return &wanted{lockedCall: found, by: l, recorded: found.entry.Source}
}

// accepts reports whether evidence is enough. If the entry was installed for another address, which the lock cannot
// show, only evidence for the address counts.
func (w *wanted) accepts(e evidence.Evidence) bool {
	return w.by.run.rule.Accepts(e) && (!w.otherAddress || lockentry.IsOfAddress(e))
}

// isOfOther reports whether the entry is that of another call.
func (w *wanted) isOfOther() bool { return w.why == event.SelectionSameSource }

func (w *wanted) ladder(ctx context.Context) lockentry.Ladder[*placement] {
	return lockentry.Ladder[*placement]{
		Remembered: func() evidence.Evidence { return w.remembered(ctx) },
		Mirrors:    w.mirrors,
		Accepts:    w.accepts,
		Check:      w.check,
		AtHand:     []lockentry.Lookup[*placement]{w.installed, w.cached, w.mirrored},
		Deliver:    w.deliver,
		Origin:     w.fromOrigin,
	}
}

// remembered returns the evidence of an earlier run, or else that of an installed package that the run
// believes.
func (w *wanted) remembered(ctx context.Context) evidence.Evidence {
	if w.by.run.believesInstalled() && !w.isOfOther() && !w.otherAddress {
		w.believed, _ = w.by.stager.installedPackage(ctx, w.entry) // an error is that of the next step
	}
	e := w.by.run.find(w.statements.Package)
	if e.IsZero() && w.believed != nil {
		e.Kind = evidence.Installed
	}
	return e
}

// mirrors asks mirrors and bundles to confirm the entry.
func (w *wanted) mirrors(ctx context.Context) evidence.Evidence {
	e := w.by.stores.Confirm(ctx, w.call.From, w.entry)
	if w.byMirror = w.accepts(e) && !e.IsZero(); w.byMirror {
		w.by.run.add(e, w.statements.Package, w.statements.Ref)
	}
	return e
}

func (w *wanted) installed(ctx context.Context) (*placement, bool, error) {
	if w.believed != nil {
		return w.believed, true, nil
	}
	p, err := w.by.stager.installedPackage(ctx, w.entry)
	return p, p != nil, err
}

func (w *wanted) cached(ctx context.Context) (*placement, bool, error) {
	subdir, err := w.call.From.LockedSubdir(w.entry)
	if err != nil {
		return nil, false, err
	}
	p, err := w.by.stager.fromCache(ctx, w.entry, subdir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return p, err == nil, err
}

func (w *wanted) mirrored(ctx context.Context) (*placement, bool, error) {
	if !w.by.stores.Fetch(ctx, w.call.From, w.entry) {
		return nil, false, nil
	}
	return w.cached(ctx)
}

func (w *wanted) deliver(ctx context.Context, _ evidence.Evidence) (*placement, error) {
	at, err := w.by.origins.Locate(ctx, w.call.From, w.entry.Version)
	if err != nil {
		return nil, err
	}
	got, err := w.by.origins.Fetch(ctx, w.call.From, at, origins.Pin{Revision: w.entry.Revision(), Tree: w.entry.Hash("t1")})
	if err == nil {
		err = w.compare(got, at)
	}
	if err != nil {
		return nil, err
	}
	return w.stageFetched(ctx, got)
}

// fromOrigin asks the origin about an entry that nothing has confirmed, and fetches its package. If the entry
// is right and its package installed, that stays.
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
	if p, err := w.by.stager.installedPackage(ctx, w.entry); p != nil || err != nil {
		if p != nil && !w.otherAddress {
			p.refetched = answer.got.Bytes
		}
		return p, e, err
	}
	p, err := w.stageFetched(ctx, answer.got)
	return p, e, err
}

type originAnswer struct {
	at       origins.Location
	got      *origins.Fetched
	revision revisionProof
}

// ask fetches the package of an entry into the cache, and asks about its revision at the same time. A pool does
// each of these only once.
func (w *wanted) ask(ctx context.Context) (originAnswer, error) {
	at, err := w.by.origins.Locate(ctx, w.call.From, w.entry.Version)
	if err != nil {
		return originAnswer{}, err
	}
	revision := make(chan revisionProof, 1)
	go func() { revision <- w.by.revisions.prove(ctx, w.lockedCall, at) }()
	got, err := w.by.origins.Fetch(ctx, w.call.From, at, origins.Pin{Revision: w.entry.Revision(), Tree: w.entry.Hash("t1"), Fresh: true})
	return originAnswer{at: at, got: got, revision: <-revision}, err
}

func (w *wanted) stageFetched(ctx context.Context, got *origins.Fetched) (*placement, error) {
	subdir, err := w.call.From.LockedSubdir(w.entry)
	if err != nil {
		return nil, err
	}
	return w.by.stager.fromFetch(ctx, w.entry, subdir, got)
}

// compare compares the entry with the package from its origin, and corrects it if the lock may change.
func (w *wanted) compare(got *origins.Fetched, at origins.Location) error {
	err := checkHashes(w.entry, got, w.by.stager.project.dirs.LockedTree(w.entry))
	if mismatch, ok := errors.AsType[*HashMismatchError](err); ok {
		mismatch.Hidden, mismatch.OtherAddress = w.call.From.Hidden(lockfile.Module{Source: w.recorded}), w.otherAddress
		return mismatch
	}
	corrected, err := w.compareEntry(got, at.Subdir)
	if err != nil {
		return err
	}
	w.entry, w.statements = corrected, statementsOf(w.call, corrected)
	return nil
}

// checkHashes compares a fetched package with an entry, whose tree is former; nil if it is not known.
func checkHashes(entry lockfile.Module, got *origins.Fetched, former *store.Tree) error {
	mismatch := mismatchOf(entry.Hashes, got.Tree)
	if mismatch == nil {
		return nil
	}
	mismatch.Path, mismatch.Package, mismatch.Gitlinks = pathOf(entry.Key), got.Resolved.Redacted(), got.Gitlinks
	if former != nil {
		mismatch.Changes = hashing.Diff(former.Tree, got.Tree.Tree)
	}
	return mismatch
}

// compareEntry compares an entry with the package from its origin, whose hashes have been checked. A different
// directory in the package is an error, because it would be another module. All other differences are corrected
// if the lock may change.
func (w *wanted) compareEntry(got *origins.Fetched, located string) (lockfile.Module, error) {
	entry := w.entry
	subdir, err := got.Tree.Subdir(located)
	if err != nil {
		return entry, err
	}
	if !entry.Package.IsZero() && pathsafe.CleanSubdir(subdir) != pathsafe.CleanSubdir(entry.Package.Subdir) {
		return entry, fmt.Errorf("the lock says that the package's modules begin in the directory %q, and its origin says %q", entry.Package.Subdir, subdir)
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
	if w.by.locked {
		return entry, refuse(w.call, what)
	}
	w.by.events.warn(w.call.Path, what+"; the lock was corrected; the files are the same")
	return exact, nil
}

// remember keeps what the origin has said about an entry, and returns the evidence.
func (w *wanted) remember(revision revisionProof) evidence.Evidence {
	e := evidence.Evidence{Kind: revision.kind}
	w.by.run.add(e, w.statements.Package)
	if revision.pointed {
		w.by.run.add(e, w.statements.Ref)
	}
	return e
}

// check asks a mirror or the origin whether the ref of a confirmed entry still points to the locked revision,
// if the run needs to know.
func (w *wanted) check(ctx context.Context, _ evidence.Evidence) error {
	if w.byMirror || w.believed != nil || !w.by.revisions.needsRef(w.lockedCall) {
		return nil
	}
	if w.mirrors(ctx); w.byMirror {
		return nil
	}
	at, err := w.by.origins.Locate(ctx, w.call.From, w.entry.Version)
	if err != nil {
		return err
	}
	proof := w.by.revisions.prove(ctx, w.lockedCall, at)
	if proof.err == nil {
		w.remember(proof)
	}
	return proof.err
}
