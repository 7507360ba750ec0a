package cotter

import (
	"context"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
)

// Origin describes where the package of a call comes from now, compared with the lock.
type Origin struct {
	// Path is the called module's path, and Call the block that calls it.
	Path addrs.Module
	Call ModuleCall
	// Package is the package's address without its pin, redacted for display.
	Package string
	// Ref is the name used at the origin: "tag v1.2.0", "branch main", "HEAD". It is empty
	// for archives, which have no refs, and for content that differs.
	Ref string
	// Locked is the content in the lock, and Now the content that the origin has. They are
	// commits or digests, or the h1 hashes of packages that were fetched for the comparison.
	Locked, Now string
	// Compared says that the content was fetched and compared with the lock. Otherwise the
	// origin has confirmed it for this user before.
	Compared bool
	// History is an *UnreachableError if the locked commit is not what its ref points to, and
	// is not known to be in the history of a branch or a tag.
	History error
	// Err is set if the origin could not be asked or did not answer.
	Err error
}

// Moved reports whether the origin has different content than the lock.
func (o Origin) Moved() bool { return o.Err == nil && o.Locked != o.Now }

// OK reports whether the origin was asked and still has the content of the lock. A zero
// Origin is not OK, and has not moved either.
func (o Origin) OK() bool { return o.Err == nil && o.Locked != "" && o.Locked == o.Now }

// VerifyRemote asks the origins of all locked packages whether tags, digests, branches and
// registry answers still point to the locked content. It fetches the content and compares it
// with the hashes of the lock, unless the origin has confirmed it for this user before. The
// content of archives and of vendored packages is always compared. The modules must be
// installed, and nothing is changed. The result is sorted by path.
func (in *Installer) VerifyRemote(ctx context.Context, req Request) (_ []Origin, err error) {
	p, err := openToAsk(ctx, in, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, p.close()) }()
	modules, failures, err := p.installedTree(ctx)
	if err == nil {
		err = failures.join()
	}
	if err != nil {
		return nil, err
	}
	v := &remoteVerifier{inquiry: p, trust: newTrust(p.openProject, evidence.For(evidence.VerifyRemote), nil, p.session.Cache.Confirmed)}
	list := make([]Origin, 0, len(modules))
	var wait sync.WaitGroup
	for _, m := range modules {
		entry, locked := p.lock.Module(m.key())
		if !locked || !m.ownsPackage() {
			continue
		}
		list = append(list, Origin{Path: m.path(), Call: m.call.ModuleCall})
		o := &list[len(list)-1] // list has room for all elements, so this one does not move
		wait.Go(func() {
			if err := v.compare(ctx, o, m.call, entry); err != nil {
				o.Err = m.call.fail(err)
			}
		})
	}
	wait.Wait()
	return list, ctx.Err()
}

// remoteVerifier compares the entries of a lock with their origins.
type remoteVerifier struct {
	*inquiry
	trust *trust
}

// compare asks the origin of a call, and compares its answers with the entry: the directory, the
// revision, then the content.
func (v *remoteVerifier) compare(ctx context.Context, o *Origin, c *call, entry lockfile.Module) error {
	if reason := c.from.Mismatch(entry); reason != "" {
		return &StaleError{reason}
	}
	at, err := v.origins.LocateLocked(ctx, c.from, entry)
	if err != nil {
		return err
	}
	o.Package = at.Package.Redacted()
	locked, lockedSubdir := entry.SplitPackage()
	if !store.IsPattern(at.Subdir) && store.CleanSubdir(at.Subdir) != store.CleanSubdir(lockedSubdir) {
		o.Ref, o.Locked, o.Now = "directory", lockedSubdir, at.Subdir
		return nil
	}
	now, err := v.origins.Reference(ctx, c.from, at, locked.Revision())
	switch {
	case err != nil:
		return err
	case now.Revision != "" && locked.Revision() == "": // the locked package was an archive
		o.Ref, o.Locked, o.Now = "address", locked.Redacted(), o.Package
		return nil
	case now.Revision != "":
		o.Ref, o.Locked, o.Now = now.String(), locked.Revision(), now.Revision
		if o.History, err = v.history(ctx, c, entry, at); err != nil {
			return err
		}
	}
	known := v.trust.find(lockentry.StatementsOf(entry, c.from.FromPackage).Package)
	if now.Revision != "" && v.trust.rule.Accepts(known) && v.dirs.VendoredDir(entry.Key) == "" {
		return nil
	}
	return v.compareContent(ctx, o, c, entry, at)
}

// history returns an *UnreachableError if a locked commit is neither what its ref points to nor in
// the history of a branch or tag, and nil for other packages.
func (v *remoteVerifier) history(ctx context.Context, c *call, entry lockfile.Module, at origins.Location) (unreachable, err error) {
	status, err := v.origins.RefStatus(ctx, c.from, entry, at)
	if err != nil || at.Package.Getter() != "git" || !status.Moved() && !status.Abbreviated {
		return nil, err
	}
	reach, err := v.origins.Reachable(ctx, c.from, entry, at)
	if err != nil || reach.Result == getmodules.Reachable {
		return nil, err
	}
	return newUnreachableError(entry.Key, status, reach), nil
}

// compareContent fetches the locked revision of a package and compares it with the entry. A
// package without revisions is fetched as it is now.
func (v *remoteVerifier) compareContent(ctx context.Context, o *Origin, c *call, entry lockfile.Module, at origins.Location) error {
	got, err := v.origins.Fetch(ctx, c.from, at, origins.Pin{Revision: entry.Revision(), Fresh: true})
	if err != nil {
		return err
	}
	o.Compared = true
	locked, _ := entry.SplitPackage()
	differs := func(ref, locked, now string) bool {
		if locked != now {
			o.Ref, o.Locked, o.Now = ref, locked, now
		}
		return locked != now
	}
	for _, scheme := range []string{"h1", "t1"} {
		if want := entry.Hash(scheme); want != "" && differs("", string(want), string(got.Tree.Hash(scheme))) {
			return nil
		}
	}
	switch zh := entry.Hash("zh"); {
	case !locked.IsZero() && differs("address", lockentry.PackageAddress(locked, ""), lockentry.PackageAddress(got.Resolved, "")):
	case zh != "" && got.Archive != "" && differs("", string(zh), string(got.Archive)):
	case o.Ref == "": // a package without revisions
		o.Locked, o.Now = string(entry.Hash("h1")), string(got.Tree.H1())
	}
	return nil
}

// OriginProvider says whether the source of a locked provider still confirms its entry.
type OriginProvider struct {
	Provider addrs.Provider
	// Version is the locked version.
	Version string
	// Location is where the source has the package for this platform, or for another one if
	// it has none for this.
	Location string
	// Evidence is who has confirmed the release: the registry, or a mirror of
	// Installer.Providers.
	Evidence evidence.Evidence
	// Unknown are the hashes in the lock that belong to no package of the release, for any
	// platform, in the order of the lock.
	Unknown []hashing.Hash
	// Err is set if the source could not be asked, or does not confirm the release. It is a
	// *[ProviderError].
	Err error
}

// Moved reports whether the source confirms other content than the lock.
func (o OriginProvider) Moved() bool { return o.Err == nil && len(o.Unknown) > 0 }

// VerifyRemoteProviders asks the sources of all locked providers for the hashes of their
// releases, and compares them with the lock: registries for their signed checksums, or the
// mirrors of [Installer.Providers]. Every h1 and zh hash in the lock must be one of them, or
// belong to a package that has one of them. An archive is downloaded if its h1 is not known
// otherwise. Nothing is changed. The result is in the order of the lock.
func (in *Installer) VerifyRemoteProviders(ctx context.Context, req Request) (_ []OriginProvider, err error) {
	if req.Providers == nil {
		req.Providers = &Providers{}
	}
	q, err := openToAsk(ctx, in, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, q.close()) }()
	stage, err := openProviderStage(q.openProject, q.session, q.events, evidence.For(evidence.VerifyRemote))
	if err != nil {
		return nil, err
	}
	entries := stage.lock.Providers()
	list := make([]OriginProvider, len(entries))
	var wait sync.WaitGroup
	for i, entry := range entries {
		wait.Go(func() {
			o := &list[i]
			o.Provider, o.Version = entry.Address, entry.Version
			found, err := stage.stage.CheckOrigin(ctx, entry)
			if err != nil {
				o.Err = err
				return
			}
			o.Location, o.Evidence, o.Unknown = found.Location, found.Evidence, found.Unknown
		})
	}
	wait.Wait()
	return list, ctx.Err()
}
