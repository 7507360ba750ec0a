package installer

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// OriginReport is the result of [Installer.VerifyRemote].
type OriginReport struct {
	Complete bool // everything in the scope was compared; beside an error, it is false
	// Modules are the locked packages, and Providers the locked providers if the scope has them.
	Modules   []ModuleOrigin
	Providers []ProviderOrigin
}

// OK reports whether the origins have all of the locked content. Neither a nil nor a zero OriginReport is OK.
func (r *OriginReport) OK() bool {
	return r != nil && r.Complete &&
		!slices.ContainsFunc(r.Modules, func(o ModuleOrigin) bool { return !o.OK() }) &&
		!slices.ContainsFunc(r.Providers, func(o ProviderOrigin) bool { return !o.OK() })
}

// ModuleOrigin describes where the package of a call comes from now, compared with the lock.
type ModuleOrigin struct {
	Path    addrs.Module
	Call    config.Call
	Package string // the package's address without its pin, redacted
	// Ref is the name that the origin has for the content now, such as a tag or a branch; archives have none.
	Ref getmodules.Reference
	// Compared says what Locked, in the lock, and Now, at the origin, are: the first part to differ, if one does.
	Compared    Compared
	Locked, Now string
	Fetched     bool  // the content was compared; otherwise the origin has confirmed it for this user before
	History     error // an *[UnreachableError] about the locked commit; nil if its ref, a branch or a tag has it
	Err         error // set if the origin could not be asked or did not answer
}

// Moved reports whether the origin has different content than the lock.
func (o ModuleOrigin) Moved() bool { return o.Err == nil && o.Locked != o.Now }

// OK reports whether the origin was asked and has the content of the lock. The zero value is not OK, nor has it
// moved.
func (o ModuleOrigin) OK() bool { return o.Err == nil && o.Locked != "" && o.Locked == o.Now }

// Compared is the part of a package that VerifyRemote compared with the lock.
type Compared string

// The parts of a package.
const (
	ComparedNothing   Compared = ""
	ComparedDirectory Compared = "directory" // of the module in its package
	ComparedRevision  Compared = "revision"  // a git commit, or the digest of an OCI manifest
	ComparedAddress   Compared = "address"   // of the package, without its revision
	ComparedContent   Compared = "content"   // a hash of the package's content
)

// ProviderOrigin says whether the source of a locked provider still confirms its entry.
type ProviderOrigin struct {
	Provider addrs.Provider
	Version  versions.Version
	Location string            // where the source has the package for this platform, or else for another one
	Evidence evidence.Evidence // of the release: the registry, or a mirror in [Options.Providers]
	Unknown  []hashing.Hash    // the hashes in the lock that belong to no package of the release, for any platform
	// Err is a *[ProviderError] if the source could not be asked, or does not confirm the release.
	Err error
}

// Moved reports whether the source confirms other content than the lock.
func (o ProviderOrigin) Moved() bool { return o.Err == nil && len(o.Unknown) > 0 }

// OK reports whether the source was asked and confirms all hashes. The zero value is not OK, nor has it moved.
func (o ProviderOrigin) OK() bool { return o.Err == nil && !o.Evidence.IsZero() && len(o.Unknown) == 0 }

// VerifyRemote asks the origins of all locked packages whether tags, digests, branches and registry answers
// still point to the locked content. It compares the content with the hashes of the lock, unless the origin has
// confirmed it for this user before; that of archives always. Entries whose calls the configuration does not have,
// such as those of a [Session], are compared as the lock has them.
//
// If the scope has providers, every h1 and zh hash in the lock must be one that their source has for the
// release, or belong to a package that has one of them. An archive is downloaded if its h1 is not known otherwise.
//
// The report has what origins answer, or why they do not; the error is about what could not be compared at all: a
// *[ModuleError] for each module that is not installed, or a *[MissingLockError].
func (in *Installer) VerifyRemote(ctx context.Context, project Project, o OriginOptions) (_ *OriginReport, err error) {
	defer ctxerr.Keep(ctx, &err)
	req := readingOf(project, o.Scope)
	if err := req.checkWithLock(); err != nil {
		return nil, err
	}
	ctx, q, err := openToAsk(ctx, in, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, q.close()) }()
	if err := q.requireLock(ctx); err != nil {
		return nil, err
	}
	report := &OriginReport{}
	var ofModules, ofProviders error
	var wait sync.WaitGroup
	if req.Scope.modules() {
		wait.Go(func() { report.Modules, ofModules = q.compareOrigins(ctx) })
	}
	if req.Scope.providers() {
		wait.Go(func() { report.Providers, ofProviders = q.compareProviderOrigins(ctx, managed) })
	}
	wait.Wait()
	if err := ctxerr.Of(ctx); err != nil {
		return report, err
	}
	err = join(ofModules, ofProviders)
	report.Complete = err == nil
	return report, err
}

func (q *inquiry) compareOrigins(ctx context.Context) ([]ModuleOrigin, error) {
	tree, err := q.installed(ctx, false, nil)
	if err != nil {
		return nil, err
	}
	modules, err := q.addUnseen(ctx, tree.Modules, tree.Failures)
	if err != nil {
		return nil, err
	}
	v := &remoteVerifier{inquiry: q, trust: newTrust(q.openProject, evidencerules.For(evidencerules.VerifyRemote), nil, q.pool.Cache.Confirmed)}
	list := make([]ModuleOrigin, 0, len(modules))
	var wait sync.WaitGroup
	for _, m := range modules {
		if !m.OwnsPackage() || m.Call.Unlocked {
			continue
		}
		entry, locked := q.Lock.Module(m.Key())
		list = append(list, ModuleOrigin{Path: m.Path(), Call: m.Call.Call})
		o := &list[len(list)-1] // list has room for all elements, so this one does not move
		if !locked {
			o.Err = m.Call.Fail(&StaleError{q.noEntry(m.Call)})
			continue
		}
		wait.Go(func() {
			if err := v.compare(ctx, o, m.Call, entry); err != nil {
				o.Err = m.Call.Fail(err)
			}
		})
	}
	wait.Wait()
	return list, joinFailures(tree.Failures)
}

// addUnseen adds the modules of the entries that a walk of the configuration has not come to, although nothing
// at or above them failed.
func (q *inquiry) addUnseen(ctx context.Context, modules []*module, failures *failures) ([]*module, error) {
	unseen := goneEntries(q.Lock, modules, failures)
	if len(unseen) == 0 {
		return modules, nil
	}
	w, err := q.walker(nil)
	if err != nil {
		return nil, err
	}
	locked, err := w.Locked(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range locked.Modules {
		if m.OwnsPackage() && slices.Contains(unseen, m.Key()) {
			modules = append(modules, m)
		}
	}
	for _, f := range locked.Failures.Sorted() {
		if _, ok := q.Lock.Module(f.Path.String()); ok && slices.Contains(unseen, f.Path.String()) {
			failures.Add(f.Path, f.Call, f.Err)
		}
	}
	slices.SortFunc(modules, func(a, b *module) int { return strings.Compare(a.Key(), b.Key()) })
	return modules, nil
}

// managed are the entries of the project's lock whose providers it installs.
func managed(stage *providerStage) []lockfile.Provider { return stage.lock.Managed() }

// providerOrigins is documented in package installerinternal.
func providerOrigins(ctx context.Context, in *Installer, project Project, offline bool, entries []lockfile.Provider) (_ []ProviderOrigin, err error) {
	defer ctxerr.Keep(ctx, &err)
	req := readingOf(project, ScopeProviders)
	req.Offline = offline
	if err := req.checkWithLock(); err != nil {
		return nil, err
	}
	ctx, q, err := openToAsk(ctx, in, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, q.close()) }()
	return q.compareProviderOrigins(ctx, func(*providerStage) []lockfile.Provider { return entries })
}

func (q *inquiry) compareProviderOrigins(ctx context.Context, entriesOf func(*providerStage) []lockfile.Provider) ([]ProviderOrigin, error) {
	stage, err := openProviderStage(q.openProject, q.pool, q.events, evidencerules.For(evidencerules.VerifyRemote))
	if err != nil {
		return nil, err
	}
	// The comparison of the modules reports what cannot be read.
	_, _ = q.installed(ctx, false, stage.required.add)
	entries := entriesOf(stage)
	list := make([]ProviderOrigin, len(entries))
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
	return list, nil
}

type remoteVerifier struct {
	*inquiry
	trust *trust
}

// compare asks the origin of a call, and compares its answers with the entry: the directory, the revision, then
// the content.
func (v *remoteVerifier) compare(ctx context.Context, o *ModuleOrigin, c *call, entry lockfile.Module) error {
	if reason := c.From.Mismatch(entry); reason != "" {
		return &StaleError{reason}
	}
	at, err := v.origins.LocateLocked(ctx, c.From, entry)
	if err != nil {
		return err
	}
	o.Package = at.Package.Redacted()
	locked := entry.Package
	if !store.IsPattern(at.Subdir) && pathsafe.CleanSubdir(at.Subdir) != pathsafe.CleanSubdir(locked.Subdir) {
		o.Compared, o.Locked, o.Now = ComparedDirectory, locked.Subdir, at.Subdir
		return nil
	}
	now, err := v.origins.Reference(ctx, c.From, at, entry.Revision())
	switch {
	case err != nil:
		return err
	case now.Revision != "" && entry.Revision() == "": // the locked package was an archive
		o.Compared, o.Locked, o.Now = ComparedAddress, locked.Package.Redacted(), o.Package
		return nil
	case now.Revision != "":
		o.Ref, o.Compared, o.Locked, o.Now = now, ComparedRevision, entry.Revision(), now.Revision
		if o.History, err = v.history(ctx, c, entry, at); err != nil {
			return err
		}
	}
	known := v.trust.find(statementsOf(c, entry).Package)
	if now.Revision != "" && v.trust.rule.Accepts(known) {
		return nil
	}
	return v.compareContent(ctx, o, c, entry, at)
}

// history returns an *UnreachableError if a locked commit is neither what its ref points to nor in the history
// of a branch or tag.
func (v *remoteVerifier) history(ctx context.Context, c *call, entry lockfile.Module, at origins.Location) (unreachable, err error) {
	status, err := v.origins.RefStatus(ctx, c.From, entry, at)
	if err != nil || at.Package.Getter() != "git" || !status.Moved() && !status.Abbreviated {
		return nil, err
	}
	reach, err := v.origins.Reachable(ctx, c.From, entry.Revision(), at, false)
	if err != nil || reach.Result == getmodules.Reachable {
		return nil, err
	}
	return newUnreachableError(pathOf(entry.Key), status, reach), nil
}

// compareContent fetches the locked revision and compares it with the entry. A package without revisions is
// fetched as it is now.
func (v *remoteVerifier) compareContent(ctx context.Context, o *ModuleOrigin, c *call, entry lockfile.Module, at origins.Location) error {
	got, err := v.origins.Fetch(ctx, c.From, at, origins.Pin{Revision: entry.Revision(), Fresh: true})
	if err != nil {
		return err
	}
	o.Fetched = true
	locked := entry.Package.Package
	differs := func(what Compared, locked, now string) bool {
		if locked != now {
			o.Ref, o.Compared, o.Locked, o.Now = getmodules.Reference{}, what, locked, now
		}
		return locked != now
	}
	for _, scheme := range []string{"h1", "t1"} {
		if want := entry.Hash(scheme); want != "" && differs(ComparedContent, string(want), string(got.Tree.Hash(scheme))) {
			return nil
		}
	}
	switch zh := entry.Hash("zh"); {
	case !locked.IsZero() && differs(ComparedAddress, locked.WithoutCredentials().String(), got.Resolved.WithoutCredentials().String()):
	case zh != "" && got.Archive != "" && differs(ComparedContent, string(zh), string(got.Archive)):
	case o.Compared == ComparedNothing: // a package without revisions
		o.Compared, o.Locked, o.Now = ComparedContent, string(entry.Hash("h1")), string(got.Tree.H1())
	}
	return nil
}
