package cotter

import (
	"context"
	"errors"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/pkgtree"
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
	p, err := in.openToAsk(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	modules, failures, err := in.installedTree(ctx, p.openProject)
	if err == nil {
		err = failures.join()
	}
	if err != nil {
		return nil, err
	}
	list := make([]Origin, 0, len(modules))
	var wait sync.WaitGroup
	for _, m := range modules {
		entry, locked := p.lock.Module(m.key())
		if !locked || !m.ownsPackage() {
			continue
		}
		list = append(list, Origin{Path: m.path(), Call: m.call.ModuleCall})
		o := &list[len(list)-1] // the list has room for all, so it stays where it is
		wait.Go(func() { o.compare(ctx, p.origins, m.call, entry) })
	}
	wait.Wait()
	return list, ctx.Err()
}

// compare asks the origin of a call and compares its answer with the entry.
func (o *Origin) compare(ctx context.Context, asks *origins.Origins, c *call, entry lockfile.Module) {
	if reason := c.from.Mismatch(entry); reason != "" {
		o.Err = c.fail(&StaleError{reason})
		return
	}
	at, err := asks.LocateLocked(ctx, c.from, entry)
	if err != nil {
		o.Err = c.fail(err)
		return
	}
	o.Package = at.Package.Redacted()
	locked, lockedSubdir := entry.SplitPackage()
	if at.FromServer() && !pkgtree.IsPattern(at.Subdir) && pkgtree.CleanSubdir(at.Subdir) != pkgtree.CleanSubdir(lockedSubdir) {
		o.Ref, o.Locked, o.Now = "directory", lockedSubdir, at.Subdir
		return
	}
	reference, err := asks.Reference(ctx, c.from, at, locked.Revision())
	switch {
	case err != nil:
		o.Err = c.fail(err)
	case reference.Revision == "":
		o.compareArchive(ctx, asks, c, entry, at)
	case locked.Revision() == "": // it was an archive
		o.Ref, o.Locked, o.Now = "address", locked.Redacted(), o.Package
	default:
		o.Ref, o.Locked, o.Now = reference.String(), locked.Revision(), reference.Revision
	}
}

// compareArchive fetches a package that has no revisions, to compare it.
func (o *Origin) compareArchive(ctx context.Context, asks *origins.Origins, c *call, entry lockfile.Module, at origins.Location) {
	got, err := asks.Fetch(ctx, c.from, at, "", "")
	if err != nil {
		o.Err = c.fail(err)
		return
	}
	locked, _ := entry.SplitPackage()
	zh := entry.Hash("zh")
	o.Locked, o.Now = string(entry.Hash("h1")), string(got.Tree.H1())
	if o.Moved() {
		return
	}
	switch {
	case !locked.IsZero() && lockentry.PackageAddress(got.Resolved, "") != lockentry.PackageAddress(locked, ""):
		o.Ref, o.Locked, o.Now = "address", locked.Redacted(), got.Resolved.Redacted()
	case zh != "" && got.Archive != "":
		o.Locked, o.Now = string(zh), string(got.Archive)
	}
}
