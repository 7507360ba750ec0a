package cotter

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/lockentry"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/store"
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

// openToAsk opens a project for a run that asks origins. The inquiry must be closed.
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

// newSelector returns a selector of the versions that origins offer.
func (q *inquiry) newSelector() *selector {
	return &selector{origins: q.origins, events: q.events, lock: q.lock}
}

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
	v := &remoteVerifier{inquiry: p, trust: p.trust(evidence.VerifyRemote, nil, p.session.Cache.Confirmed)}
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

// Outdated is a module call with the versions that are available for it.
type Outdated struct {
	Path   addrs.Module
	Call   ModuleCall
	Source addrs.ModuleSource
	// Current is the installed version, Allowed the newest version that meets the call's
	// constraint, and Latest the newest stable version. Allowed and Latest ignore versions
	// that are too young for the request's policies. "" means that there is no such
	// version.
	Current, Allowed, Latest string
	// Pin is set if the source address of the call names a version tag. Then Allowed equals
	// Current, because another tag would be a change of the configuration.
	Pin *Pin
}

// Outdated compares the installed versions with the versions that registries and
// repositories offer. It covers every call whose source has versions, and every pin in the
// project's own modules, sorted by path. The modules must be installed, and nothing is
// changed. If an origin does not answer, the error contains a *ModuleError for the call;
// the other calls are still returned.
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

// outdated compares the installed version of a module with the available ones. It returns
// nil if the module's source has no versions and no pin.
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

// newestOf returns the newest version that meets the constraints, or "".
func newestOf(offered []versions.Candidate, want versions.Constraints) string {
	selected, err := versions.Select(offered, want)
	if err != nil {
		return ""
	}
	return selected.Version.String()
}

// OutdatedProvider is a provider with the versions that are available for it.
type OutdatedProvider struct {
	Provider addrs.Provider
	// RequiredBy are the places that require the provider, and Constraints their combined
	// constraints.
	RequiredBy  []ProviderUse
	Constraints string
	// Current is the locked version, Allowed the newest version that all modules allow, and
	// Latest the newest stable version. "" means that there is no such version.
	Current, Allowed, Latest string
}

// OutdatedProviders compares the locked versions of the providers with the versions that
// their sources offer. The result is in the order of the lock. The modules must be
// installed, and nothing is changed. If a source does not answer, the error contains a
// *[ProviderError] for the provider; the other providers are still returned.
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

// outdatedProvider compares the locked version of a provider with the available ones.
func (q *inquiry) outdatedProvider(ctx context.Context, r treeproviders.Required, lock *providerLock) (OutdatedProvider, error) {
	entry, _ := lock.Provider(r.Address)
	o := OutdatedProvider{Provider: r.Address, RequiredBy: r.Uses, Constraints: r.Want.String(), Current: entry.Version}
	if err := q.rules.CheckProvider(r.Address); err != nil {
		return o, r.Fail("", err)
	}
	listing, err := q.session.providers.Listing(ctx, q.rules, q.req.ProviderSource, q.req.dir(), r.Address)
	if err != nil {
		return o, r.Fail("", err)
	}
	o.Allowed, o.Latest = treeproviders.Newest(listing, r.Want), treeproviders.Newest(listing, versions.ProviderConstraints{})
	return o, nil
}
