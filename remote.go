package cotter

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/treeproviders"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// inquiry is a run that asks origins about a project and changes nothing.
type inquiry struct {
	*openProject
	session *session
	origins *origins.Origins
	events  *events
	done    func()
}

// openToAsk opens a project for a run that asks origins. It must be closed.
func (in *Installer) openToAsk(ctx context.Context, req Request) (*inquiry, error) {
	p, err := in.view(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := p.readRules(); err != nil {
		return nil, errors.Join(err, p.close())
	}
	session, done, err := in.sharedSession(p.key)
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	events := &events{fn: in.OnEvent}
	return &inquiry{openProject: p, session: session, origins: session.originsFor(p, events), events: events, done: done}, nil
}

// close ends the run.
func (q *inquiry) close() error {
	q.done()
	return q.openProject.close()
}

// newSelector returns what selects among the versions that origins have.
func (q *inquiry) newSelector() *selector {
	return &selector{origins: q.origins, events: q.events, lock: q.lock}
}

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

// Outdated is a module call and the versions that there are for it.
type Outdated struct {
	Path   addrs.Module
	Call   ModuleCall
	Source addrs.ModuleSource
	// Current is the installed version, Allowed the newest that meets the
	// call's constraint, Latest the newest stable one, both without those that
	// are too young for the request's policies. "" stands for none.
	Current, Allowed, Latest string
	// Pin is set for a call whose source address names a tag that is a version. Then
	// Allowed is Current: another tag is a change of the configuration.
	Pin *Pin
}

// Outdated compares the installed versions with those that registries and
// repositories offer, of every call whose source has versions and of every pin of the
// project's own modules, in the order of their paths. The modules must be installed;
// nothing is changed. A call whose origin gave no answer is a *ModuleError; the others are
// returned beside it.
func (in *Installer) Outdated(ctx context.Context, req Request) (_ []Outdated, err error) {
	p, err := in.openToAsk(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	modules, failures, err := in.installedTree(ctx, p.openProject)
	if err != nil {
		return nil, err
	}
	s := p.newSelector()
	found := make([]*Outdated, len(modules))
	var wait sync.WaitGroup
	for i, m := range modules {
		wait.Go(func() {
			var err error
			if found[i], err = s.outdated(ctx, p.openProject, m); err != nil {
				failures.addCall(m.call, err)
			}
		})
	}
	wait.Wait()
	var list []Outdated
	for _, o := range found {
		if o != nil {
			list = append(list, *o)
		}
	}
	return list, failures.join()
}

// outdated compares the installed version of a module with those that there are; nil if
// its source has none, and no pin.
func (s *selector) outdated(ctx context.Context, p *openProject, m *module) (*Outdated, error) {
	shown := m.result(p.req.KeepCredentials)
	o := &Outdated{Path: shown.Path, Call: shown.Call, Source: shown.Source}
	switch {
	case m.call.own() && !m.call.from.SelectsVersion():
		pin, err := s.pin(ctx, m.call, p.req.KeepCredentials)
		if pin == nil || err != nil {
			return nil, err
		}
		o.Current, o.Allowed, o.Latest, o.Pin = pin.Version, pin.Version, pin.LatestVersion, pin
		return o, nil
	case !m.ownsPackage() || !m.call.from.SelectsVersion():
		return nil, nil
	}
	offered, err := s.offered(ctx, m.call)
	if err != nil {
		return nil, err
	}
	p.addRecorded(m, &shown)
	old, _ := s.byAge(m.call, offered)
	o.Current, o.Allowed, o.Latest = shown.Version, newestOf(old, m.call.from.Want), newestOf(old, versions.Constraints{})
	return o, nil
}

// newestOf returns the newest version that is wanted, or "".
func newestOf(offered []versions.Candidate, want versions.Constraints) string {
	selected, err := versions.Select(offered, want)
	if err != nil {
		return ""
	}
	return selected.Version.String()
}

// OutdatedProvider is a provider and the versions that there are of it.
type OutdatedProvider struct {
	Provider addrs.Provider
	// RequiredBy are the places that require it, and Constraints what they ask for
	// together.
	RequiredBy  []ProviderUse
	Constraints string
	// Current is the locked version, Allowed the newest that all modules allow, Latest
	// the newest stable one. "" stands for none.
	Current, Allowed, Latest string
}

// OutdatedProviders compares the locked versions of the providers with those that their
// sources offer, in the order of the lock. The modules must be installed; nothing is
// changed. A provider whose source gave no answer is a *[ProviderError]; the others are
// returned beside it.
func (in *Installer) OutdatedProviders(ctx context.Context, req Request) (_ []OutdatedProvider, err error) {
	p, err := in.openToAsk(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	required, err := in.requiredProviders(ctx, p.openProject)
	if err != nil {
		return nil, err
	}
	if req.Offline {
		return nil, fmt.Errorf("the versions of providers are not known: %w", ErrOffline)
	}
	lock, err := p.providerLock()
	if err != nil {
		return nil, err
	}
	found, failures := make([]OutdatedProvider, len(required)), make([]error, len(required))
	var wait sync.WaitGroup
	for i, r := range required {
		wait.Go(func() { found[i], failures[i] = p.outdatedProvider(ctx, r, lock) })
	}
	wait.Wait()
	return found, errors.Join(failures...)
}

// outdatedProvider compares the locked version of a provider with those that there are.
func (q *inquiry) outdatedProvider(ctx context.Context, r treeproviders.Required, lock *providerLock) (OutdatedProvider, error) {
	entry, _ := lock.Provider(r.Address)
	o := OutdatedProvider{Provider: r.Address, RequiredBy: r.Uses, Constraints: r.Want.String(), Current: entry.Version}
	if err := q.rules.CheckProvider(r.Address); err != nil {
		return o, r.Fail("", err)
	}
	listing, err := q.session.providers.Listing(ctx, r.Address)
	if err != nil {
		return o, r.Fail("", err)
	}
	o.Allowed, o.Latest = treeproviders.Newest(listing, r.Want), treeproviders.Newest(listing, versions.ProviderConstraints{})
	return o, nil
}
