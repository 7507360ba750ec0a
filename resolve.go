package cotter

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// maxKey is the longest key of a module call, in bytes: it names a directory,
// and common file systems allow no longer names.
const maxKey = 255

// resolvePackage resolves a call of a module in another package: by the lock
// where it has an entry for just this call, else by asking for the newest
// version that is wanted.
func (r *run) resolvePackage(ctx context.Context, n *node) error {
	key := n.path.String()
	if len(key) > maxKey {
		return n.fail(fmt.Errorf("the module's path is longer than %d bytes, which is too long for the name of a directory", maxKey))
	}
	if err := r.checkFolded(n); err != nil {
		return n.fail(err)
	}
	if _, ok := n.source.(addrs.ModuleSourceRemote); ok && !n.ranged {
		if err := r.judgeRef(ctx, n, location{pkg: n.repository}); err != nil {
			return n.fail(err)
		}
	}
	entry, locked := r.lock.Module(key)
	reason := "the lock has no entry for it"
	if !locked {
		if entry, locked = r.lostEntry(n); locked && r.req.Locked {
			r.refusals.add(n, "the lock has no entry for it any more, as when tofu or terraform rewrite it; cotter restore puts it back")
			return errRefused
		}
	}
	if locked {
		reason = orElse(staleness(entry, n), r.disunity(entry, n))
	}
	if err := r.checkHost(n, entry); err != nil {
		return n.fail(err)
	}
	r.unifier.note(n)
	var err error
	switch {
	case reason == "" && !r.req.upgrades(key):
		err = r.usePinned(ctx, n, entry)
	case r.req.Locked:
		r.refusals.add(n, reason)
		return errRefused
	default:
		err = r.useNewest(ctx, n)
	}
	if err != nil {
		return err
	}
	return n.enter()
}

// checkFolded refuses a call whose directory would be that of another one, on a
// file system that folds the case of names.
func (r *run) checkFolded(n *node) error {
	if !r.foldsCase {
		return nil
	}
	first, taken := r.folded.LoadOrStore(strings.ToLower(n.path.String()), n)
	other := first.(*node)
	if !taken || other.path.String() == n.path.String() {
		return nil
	}
	return fmt.Errorf("%w for this file system, which does not tell upper from lower case: %s, called at %s:%d, and %s; rename one of them",
		ErrSameKey, other.path, other.call.Range.Filename, other.call.Range.Start.Line, n.path)
}

// staleness says why a lock entry does not decide a call; "" means that it
// does. The entry of a version that still fits stays, whatever else is on
// offer.
func staleness(entry lockfile.Module, n *node) string {
	if entry.Source != lockAddress(n.source) {
		return fmt.Sprintf("the lock is for source %q", entry.Source)
	}
	if !n.hasVersions() {
		if entry.Version != "" {
			return fmt.Sprintf("the lock has version %q for a source without versions", entry.Version)
		}
		return ""
	}
	version, err := versions.Parse(entry.Version)
	if err != nil {
		return fmt.Sprintf("the lock has no usable version: %q", entry.Version)
	}
	if !n.want.Allows(version) {
		return fmt.Sprintf("the locked version %s does not meet the constraint %q", version, n.want)
	}
	return ""
}

// disunity says why a lock entry does not decide a call whose version is to be
// that of others.
func (r *run) disunity(entry lockfile.Module, n *node) string {
	if shared, ok := r.unifier.pick(n); ok && entry.Version != shared.String() {
		return fmt.Sprintf("the lock has version %s, and all calls of this source have to share version %s", entry.Version, shared)
	}
	return ""
}

func constraintChanged(entry lockfile.Module, n *node) string {
	return fmt.Sprintf("the lock was made for the constraint %q, the configuration says %q", entry.Constraints, n.want)
}

// useNewest selects the newest version that is wanted, if the source has
// versions, and fetches it.
func (r *run) useNewest(ctx context.Context, n *node) error {
	version, location, err := r.newest(ctx, n)
	if err != nil {
		return err
	}
	if err := r.checkDirection(n, version); err != nil {
		return err
	}
	r.events.emit(Resolved{Path: n.path, Source: n.source, Version: version})
	got, err := r.fetch(ctx, n, location, location.revision, "")
	if err != nil {
		return n.fail(err)
	}
	subdir, err := expandSubdir(got.tree, location.subdir)
	if err != nil {
		return n.fail(err)
	}
	n.subdir, err = joinSubdir(n.source, subdir)
	if err != nil {
		return n.fail(err)
	}
	if n.subdir, err = expandSubdir(got.tree, n.subdir); err != nil {
		return n.fail(err)
	}
	n.subdir = cleanSubdir(n.subdir)
	entry := lockfile.Module{
		Key:         n.path.String(),
		Version:     version,
		Source:      lockAddress(n.source),
		Constraints: n.want.String(),
		Package:     packageAddress(got.resolved, subdir),
		Hashes:      got.hashes(),
	}
	if err := r.checkContent(n, entry); err != nil {
		return n.fail(err)
	}
	r.confirm(n, entry, true)
	n.pkg, err = r.stage(ctx, n, entry, got)
	return err
}

// newest is the newest version that a call wants, "" where its source has no
// versions, and where that is.
func (r *run) newest(ctx context.Context, n *node) (version string, at location, err error) {
	want, err := r.wanted(n)
	if err != nil {
		return "", location{}, err
	}
	switch source := n.source.(type) {
	case addrs.ModuleSourceRegistry:
		selected, err := r.selectVersion(ctx, n, source, want)
		if err != nil {
			return "", location{}, err
		}
		version = selected.String()
	case addrs.ModuleSourceRemote:
		if n.ranged {
			selected, err := r.selectTag(ctx, n, want)
			at = location{pkg: tagged(n.repository, selected.Ref), revision: selected.Revision}
			return selected.Version.String(), at, err
		}
	}
	at, err = r.locate(ctx, n, version)
	return version, at, err
}

// cleanSubdir is a directory of a package in one form; "" is its root.
func cleanSubdir(subdir string) string {
	if subdir = path.Clean(subdir); subdir == "." {
		return ""
	}
	return subdir
}

func (n *node) failIf(err error) error {
	if err == nil {
		return nil
	}
	return n.fail(err)
}
