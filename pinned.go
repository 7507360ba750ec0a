package cotter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cotterpin/cotter/lockfile"
)

// usePinned puts what the lock says in its place: as it is there already, out
// of the cache, or fetched again.
func (r *run) usePinned(ctx context.Context, n *node, entry lockfile.Module) error {
	want := n.want.String()
	if r.req.Locked && entry.Constraints != want {
		r.refusals.add(n, constraintChanged(entry, n))
		return errRefused
	}
	r.events.emit(Resolved{Path: n.path, Source: n.source, Version: entry.Version, Locked: true})
	entry.Constraints = want
	if err := n.enterSubdir(entry); err != nil {
		return err
	}
	var err error
	if n.pkg, err = r.pinnedPackage(ctx, n, entry); err != nil {
		return err
	}
	if n.subdir, err = expandSubdir(n.pkg.tree, n.subdir); err != nil {
		return n.fail(err)
	}
	r.events.emit(HashVerified{Path: n.path})
	return nil
}

// enterSubdir sets a module's directory in the package that the lock names.
func (n *node) enterSubdir(entry lockfile.Module) error {
	subdir, err := subdirOf(n.source, entry.Package)
	n.subdir = cleanSubdir(subdir)
	return n.failIf(err)
}

// pinnedPackage is the package of an entry of the lock. What is at hand will do
// where the origin has confirmed just this entry before.
func (r *run) pinnedPackage(ctx context.Context, n *node, entry lockfile.Module) (*placed, error) {
	confirmed := r.isConfirmed(n, entry)
	if confirmed {
		if err := r.checkName(ctx, n, entry); err != nil {
			return nil, err
		}
		p, err := r.inPlace(ctx, entry)
		if p == nil && err == nil {
			p, err = r.fromStore(ctx, entry, n.subdir)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return p, n.failIf(err)
		}
	}
	entry, got, err := r.askOrigin(ctx, n, entry, confirmed)
	if !confirmed && errors.Is(err, ErrOffline) {
		err = n.fail(fmt.Errorf("no origin has confirmed the lock's entry for it on this machine, and %w", ErrOffline))
	}
	if err == nil {
		err = n.enterSubdir(entry)
	}
	if err != nil {
		return nil, err
	}
	if !confirmed {
		if p, err := r.inPlace(ctx, entry); p != nil || err != nil {
			return p, n.failIf(err)
		}
	}
	return r.stage(ctx, n, entry, got)
}

// askOrigin fetches the package of an entry of the lock from where it is, and
// compares everything that the entry says with that. It returns the entry as it
// should be. An entry that is confirmed may come from what the cache has.
func (r *run) askOrigin(ctx context.Context, n *node, entry lockfile.Module, confirmed bool) (lockfile.Module, *fetched, error) {
	location, err := r.locate(ctx, n, entry.Version)
	if err != nil {
		return entry, nil, err
	}
	asksName := r.asksName(n, entry)
	drifted := r.startDrift(ctx, n, entry, location, asksName)
	location.unconfirmed = !confirmed
	got, err := r.fetch(ctx, n, location, revisionOf(entry.Package), hashOfScheme(entry, "t1"))
	drift := <-drifted
	if err == nil {
		err = r.checkHashes(entry, got)
	}
	if err == nil {
		entry, err = r.checkEntry(n, entry, got, location.subdir)
	}
	if err == nil {
		err = drift
	}
	if err != nil {
		return entry, nil, n.failOnce(err)
	}
	r.confirm(n, entry, asksName)
	return entry, got, nil
}

// checkEntry compares an entry of the lock with what its package gives, whose
// hashes are right. Another directory of the package would be another module:
// the lock has no say in that. All else that differs is put right, where the
// lock may change.
func (r *run) checkEntry(n *node, entry lockfile.Module, got *fetched, located string) (lockfile.Module, error) {
	_, lockedSubdir := splitPackage(entry.Package)
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
	if r.req.Locked {
		r.refusals.add(n, what)
		return entry, errRefused
	}
	r.warn(n.path, what+"; the lock is put right, for the files are the same")
	return exact, nil
}

// differences says what two entries for one call say differently of its
// package.
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
		add(scheme+" hash", string(hashOfScheme(a, scheme)), string(hashOfScheme(b, scheme)))
	}
	return list
}
