package cotter

import (
	"context"
	"errors"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/lockfile"
)

// Origin is where the package of a call comes from now, beside what the lock
// has.
type Origin struct {
	// Path is the called module's path, and Call the block that calls it.
	Path addrs.Module
	Call ModuleCall
	// Package is the package's address, without what pins it, for people.
	Package string
	// Ref is the name that the origin goes by: "tag v1.2.0", "branch main",
	// "HEAD"; empty for archives, which have no refs.
	Ref string
	// Locked is what the lock has and Now what the origin points to: a commit, a
	// digest, or the h1 hash of an archive that was fetched to compare it.
	Locked, Now string
	// Err is set if the origin could not be asked, or did not answer.
	Err error
}

// Moved reports whether the origin has something else than the lock.
func (o Origin) Moved() bool { return o.Err == nil && o.Locked != o.Now }

// VerifyRemote asks the origins of all locked packages whether tags, digests,
// branches and the answers of registries still mean what the lock has. Archives,
// which have no revisions, are fetched and hashed. The modules must be installed;
// nothing is changed. The origins are in the order of the paths.
func (in *Installer) VerifyRemote(ctx context.Context, req Request) (_ []Origin, err error) {
	p, err := in.view(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.readRules(); err != nil {
		return nil, err
	}
	modules, failures, err := in.installedTree(ctx, p)
	if err == nil {
		err = failures.join()
	}
	if err != nil {
		return nil, err
	}
	session, done, err := in.sharedSession(p.key)
	if err != nil {
		return nil, err
	}
	defer done()
	asks := &origins{session: session, offline: req.Offline, rules: p.rules, events: &events{fn: in.OnEvent}}
	fetcher := &packages{origins: asks, submodules: req.Submodules}
	list := make([]Origin, 0, len(modules))
	var wait sync.WaitGroup
	for _, m := range modules {
		entry, locked := p.lock.Module(m.key())
		if !locked || !m.ownsPackage() {
			continue
		}
		list = append(list, Origin{Path: m.path(), Call: m.call.ModuleCall})
		o := &list[len(list)-1] // the list has room for all, so it stays where it is
		wait.Go(func() { o.compare(ctx, fetcher, m.call, entry) })
	}
	wait.Wait()
	return list, ctx.Err()
}

// compare asks the origin of a call and compares its answer with the entry.
func (o *Origin) compare(ctx context.Context, fetcher *packages, c *call, entry lockfile.Module) {
	if reason := c.mismatch(entry); reason != "" {
		o.Err = c.fail(&StaleError{reason})
		return
	}
	at, err := fetcher.locateLocked(ctx, c, entry)
	if err != nil {
		o.Err = err
		return
	}
	o.Package = at.pkg.Redacted()
	locked, lockedSubdir := lockedPackage(entry)
	if at.fromServer() && !isPattern(at.subdir) && cleanSubdir(at.subdir) != cleanSubdir(lockedSubdir) {
		o.Ref, o.Locked, o.Now = "directory", lockedSubdir, at.subdir
		return
	}
	reference, err := fetcher.reference(ctx, c, at, locked.Revision())
	switch {
	case err != nil:
		o.Err = c.fail(err)
	case reference.Revision == "":
		o.compareArchive(ctx, fetcher, c, entry, at)
	case locked.Revision() == "": // it was an archive
		o.Ref, o.Locked, o.Now = "address", locked.Redacted(), o.Package
	default:
		o.Ref, o.Locked, o.Now = reference.String(), locked.Revision(), reference.Revision
	}
}

// compareArchive fetches a package that has no revisions, to compare it.
func (o *Origin) compareArchive(ctx context.Context, fetcher *packages, c *call, entry lockfile.Module, at location) {
	got, err := fetcher.fetch(ctx, c, at, "", "")
	if err != nil {
		o.Err = c.fail(err)
		return
	}
	locked, _ := lockedPackage(entry)
	zh := entry.Hash("zh")
	o.Locked, o.Now = string(entry.Hash("h1")), string(got.tree.H1())
	if o.Moved() {
		return
	}
	switch {
	case !locked.IsZero() && packageAddress(got.resolved, "") != packageAddress(locked, ""):
		o.Ref, o.Locked, o.Now = "address", locked.Redacted(), got.resolved.Redacted()
	case zh != "" && got.archive != "":
		o.Locked, o.Now = string(zh), string(got.archive)
	}
}
