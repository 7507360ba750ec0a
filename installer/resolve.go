package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/rules"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/lockentry"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// maxKey is the maximum length of a module call's key in bytes, because the key is also the name of a
// directory.
const maxKey = 255

// resolver places the modules of calls by their lock entries, or else by what the project has used before, or
// else by the newest version that the constraint allows.
type resolver struct {
	project  *openProject
	selector *selector
	locator  *locator
	origins  *origins.Origins
	stager   *stager
	events   *events
	lost     *lostEntries
	run      *trust
	// folded maps lower-case keys to calls, for a file system that ignores case.
	folded sync.Map // of *call
}

func (r *resolver) module(ctx context.Context, c *call) (*module, error) {
	if err := r.checkAllowed(ctx, c); err != nil {
		return nil, err
	}
	r.warnOfCredentials(c)
	if !c.From.IsLocal() || c.From.IsLinked() {
		if err := r.checkKey(c); err != nil {
			return nil, c.Fail(err)
		}
	}
	if c.From.IsLocal() {
		m, err := r.project.LocalModule(c)
		if err == nil && r.project.req.Locked && c.IsDirectory() {
			err = r.project.directoryFault(m)
			if stale, ok := errors.AsType[*StaleError](err); ok {
				return nil, refuse(c, stale.Reason)
			}
			err = c.FailIf(err)
		}
		return m, err
	}
	pkg, subdir, err := r.placement(ctx, c)
	if err != nil {
		return nil, err
	}
	return pkg.module(c, subdir)
}

// checkAllowed applies the policies to a call and its entry. It asks the origin only if a policy depends on
// what a ref is.
func (r *resolver) checkAllowed(ctx context.Context, c *call) error {
	if err := checkCall(r.project.rules, c, r.project.Lock); err != nil {
		return err
	}
	if !c.From.IsRemote() || c.From.HasConstraint {
		return nil
	}
	return c.FailIf(r.origins.CheckRef(ctx, c.From, origins.Location{Package: c.From.Repository}))
}

// checkCall applies the policies to the text of a call, in the configuration and in the lock.
func checkCall(all rules.Rules, c *call, lock *lockfile.File) error {
	written := policy.Call{Source: c.From.Address, Constraint: c.From.Recorded, Own: c.IsOwn(), Replaced: c.Replaced != nil}
	if err := all.Each(func(p *policy.Policy) error { return p.CheckCall(written) }); err != nil {
		return c.Fail(err)
	}
	entry, locked := lock.Module(c.Key())
	if !locked || !c.From.IsOf(entry) {
		return nil // there is no entry for this source
	}
	return checkEntry(all, c, entry)
}

func checkEntry(all rules.Rules, c *call, entry lockfile.Module) error {
	pkg := entry.Package.Package
	if err := all.Allow(pkg); err != nil {
		return c.Fail(fmt.Errorf("the lock has package %s: %w", pkg.Redacted(), err))
	}
	return nil
}

// entry returns the locked entry of a call. If a merge had two, it is the newer one that fits the call.
func (p *openProject) entry(c *call) (lockfile.Module, bool) {
	entry, locked := p.Lock.Module(c.Key())
	for _, other := range p.merge.modules[c.Key()] {
		if c.From.Mismatch(other) == "" {
			return other, true
		}
	}
	return entry, locked
}

func (r *resolver) placement(ctx context.Context, c *call) (*placement, string, error) {
	if p, subdir, err := r.believed(ctx, c); p != nil || err != nil {
		return p, subdir, err
	}
	found, ok, err := r.lockedCall(ctx, c)
	if err != nil {
		return nil, "", err
	}
	if !ok {
		p, subdir, err := r.useSelected(ctx, c)
		if kept, ok := r.keptEntry(c, err); ok {
			return r.useEntry(ctx, kept)
		}
		return p, subdir, err
	}
	p, subdir, err := r.useEntry(ctx, found)
	if r.isOfOtherAddress(found, err) {
		return r.useSelected(ctx, c)
	}
	if found.why != event.SelectionSameSource || !isGone(err) {
		return p, subdir, err
	}
	if module, ok := errors.AsType[*ModuleError](err); ok {
		err = module.Err // the warning names the module already
	}
	r.events.warn(c.Path, fmt.Sprintf("the lock has %s for module %s, which has the same source, but it can no longer be used, so the newest was selected: %s",
		lockentry.VersionOrPackage(found.entry), found.entry.Key, err))
	return r.useSelected(ctx, c)
}

// keptEntry returns the call with its entry if an update of everything found other content under the name that
// the entry has: the other calls are updated, and this one is installed as it would be without an update.
func (r *resolver) keptEntry(c *call, err error) (lockedCall, bool) {
	changed, ok := errors.AsType[*ContentChangedError](err)
	entry, locked := r.project.entry(c)
	if !ok || !locked || !r.project.req.Update.All || hasPath(r.project.req.Update.Keys, c.Key()) ||
		cmp.Or(c.Mismatch(entry), r.selector.unified.mismatch(c, entry)) != "" {
		return lockedCall{}, false
	}
	r.events.emit(event.Warning{Path: c.Path, Kind: event.WarningMoved, Message: changed.Error() + "; what is locked is used", Err: changed})
	kept := r.run.lockedCall(c, entry, event.SelectionLocked)
	kept.knownMoved = true
	return kept, true
}

// isOfOtherAddress reports whether an entry turns out to be for another address than the call's, of which the lock
// shows the same: the origin has something else. An entry that is not known to be of another address must fit its
// own call.
func (r *resolver) isOfOtherAddress(found lockedCall, err error) bool {
	_, differs := errors.AsType[*HashMismatchError](err)
	return !r.project.req.Locked && (differs || isGone(err)) && r.run.addresses.mayBeOther(found.call, found.entry)
}

// lockedCall returns the call with the entry that the run uses for it: its own, the one that the lock has lost,
// or that of another call of the same source. ok is false if something has to be selected.
func (r *resolver) lockedCall(ctx context.Context, c *call) (_ lockedCall, ok bool, err error) {
	if c.Unlocked {
		return lockedCall{}, false, nil
	}
	req := r.project.req
	entry, locked := r.project.entry(c)
	reason, restored := r.project.noEntry(c), false
	if !locked {
		r.lost.lookAhead(ctx)
		if entry, restored = r.lostEntry(ctx, c); restored && req.Locked {
			return lockedCall{}, false, refuseLost(c)
		}
		if restored {
			if err := checkEntry(r.project.rules, c, entry); err != nil {
				return lockedCall{}, false, err
			}
		}
	}
	if locked || restored {
		reason = cmp.Or(c.Mismatch(entry), r.selector.unified.mismatch(c, entry))
	}
	if err := r.checkHost(c, entry); err != nil {
		return lockedCall{}, false, c.Fail(err)
	}
	switch {
	case reason == "" && !req.Update.has(c.Key()):
		if changed, at := c.Change(entry); req.Locked && changed != "" {
			refused := refuse(c, changed)
			refused.Range = at
			return lockedCall{}, false, refused
		}
		found := r.run.lockedCall(c, entry, event.SelectionLocked)
		found.restored = restored
		return found, true, nil
	case req.Locked:
		return lockedCall{}, false, refuse(c, reason)
	}
	return r.sameSource(ctx, c)
}

// sameSource returns a call with the entry of another call of its source, if there is one that fits.
func (r *resolver) sameSource(ctx context.Context, c *call) (_ lockedCall, ok bool, err error) {
	want, err := r.selector.wanted(c)
	if err != nil {
		return lockedCall{}, false, err
	}
	entry, ok := r.selector.past.entry(ctx, []*call{c}, func(v versions.Version) bool { return want.Allows(v) && c.From.Allows(v) })
	if !ok {
		return lockedCall{}, false, nil
	}
	return r.run.lockedCall(c, entry, event.SelectionSameSource), true, checkEntry(r.project.rules, c, entry)
}

// believed returns the installed module of a call in a run without a lock that believes what is installed; nil
// if nothing that fits is installed.
func (r *resolver) believed(ctx context.Context, c *call) (*placement, string, error) {
	if !r.project.req.NoLock || c.Replaced != nil || !r.run.believesInstalled() || r.project.req.Update.covers(c.Path) || r.selector.unified != nil {
		return nil, "", nil
	}
	record, ok := r.project.Recorded.Lookup(c.Key())
	if !ok || !c.IsRecordedAs(record, r.project.Dialect.Parser()) {
		return nil, "", nil
	}
	want, err := r.selector.wanted(c)
	if err != nil {
		return nil, "", err
	}
	if v, err := versions.Parse(record.Version); c.From.SelectsVersion() && (err != nil || !want.Allows(v) || !c.From.Allows(v)) {
		return nil, "", nil //nolint:nilerr // another version is selected
	}
	p, subdir, err := r.stager.recordedPackage(ctx, c, record)
	if p != nil {
		p.evidence.Kind, p.selected.why = evidence.Installed, event.SelectionInstalled
		r.emitResolved(c, versionOf(record.Version), "", event.SelectionInstalled)
	}
	return p, subdir, err
}

func (r *resolver) useEntry(ctx context.Context, found lockedCall) (*placement, string, error) {
	r.emitResolved(found.call, found.entry.Version, packageOf(found.entry), found.why)
	p, subdir, err := r.locator.locate(ctx, found)
	if err == nil {
		p.selected.why = found.why
		r.events.emit(event.HashVerified{Path: found.call.Path})
	}
	return p, subdir, err
}

// isGone reports whether the origin no longer has a locked package, or it no longer belongs to its source.
// Other errors may pass, and must not change what is selected.
func isGone(err error) bool {
	unreachable, isUnreachable := errors.AsType[*UnreachableError](err)
	_, notOffered := errors.AsType[*origins.NotOfferedError](err)
	return isUnreachable && !unreachable.Unknown || notOffered || errors.Is(err, registryclient.ErrNotFound) ||
		errors.Is(err, getmodules.ErrRefNotFound) || errors.Is(err, getmodules.ErrRevisionNotFound)
}

func (r *resolver) useSelected(ctx context.Context, c *call) (*placement, string, error) {
	selected, err := r.selector.find(ctx, c)
	if err != nil {
		return nil, "", err
	}
	version, at := selected.version, selected.at
	if err := r.selector.checkDirection(c, version); err != nil {
		return nil, "", err
	}
	r.emitResolved(c, version, at.Package.Redacted(), selected.why)
	got, err := r.origins.Fetch(ctx, c.From, at, origins.Pin{Revision: at.Revision})
	if err != nil {
		return nil, "", c.Fail(err)
	}
	located, err := got.Tree.Subdir(at.Subdir)
	if err != nil {
		return nil, "", c.Fail(err)
	}
	subdir, err := c.From.ModuleSubdir(located)
	if err == nil {
		subdir, err = got.Tree.Subdir(subdir)
	}
	if err != nil {
		return nil, "", c.Fail(err)
	}
	entry := lockfile.Module{
		Key:         c.Key(),
		Version:     version,
		Source:      c.From.LockAddress(),
		Constraints: c.From.Recorded,
		Replaces:    c.Replaces(),
		Package:     lockentry.PackageAddress(got.Resolved, located),
		Hashes:      got.Hashes(),
	}
	if err := cmp.Or(r.checkContent(ctx, c, entry), r.checkSourceBlocks(c, entry, got.Tree, subdir)); err != nil {
		return nil, "", c.Fail(err)
	}
	fetched := r.run.lockedCall(c, entry, selected.why)
	if err := r.locator.revisions.checkCommit(ctx, fetched); err != nil {
		return nil, "", c.Fail(err)
	}
	e := evidence.Evidence{Kind: evidence.Origin}
	r.run.add(e, fetched.statements.Package)
	if !selected.isBehind {
		r.run.add(e, fetched.statements.Ref)
	}
	p, err := r.stager.fromFetch(ctx, entry, subdir, got)
	if err != nil {
		return nil, "", c.Fail(err)
	}
	p.evidence, p.selected = e, selected
	return p, subdir, nil
}

func packageOf(entry lockfile.Module) string { return entry.Package.Package.Redacted() }

// placed reports that a module is ready. A local module was resolved by that.
func (r *resolver) placed(m *module) {
	if m.Call.From.IsLocal() {
		r.emitResolved(m.Call, versions.Version{}, "", event.SelectionUnknown)
	}
	r.events.emit(event.ModuleReady{Path: m.Path(), Dir: m.FinalPath})
}

func (r *resolver) emitResolved(c *call, version versions.Version, pkg string, why event.Selection) {
	_, source := c.Shown(false)
	locked := why == event.SelectionLocked || why == event.SelectionSameSource
	r.events.emit(event.Resolved{Path: c.Path, Source: source, Version: version, Package: pkg, Locked: locked, Selection: why})
}

// checkContent returns an error if an entry has different content than a locked version.
func (r *resolver) checkContent(ctx context.Context, c *call, entry lockfile.Module) error {
	if c.Unlocked {
		return nil
	}
	old, had := r.project.Lock.Module(entry.Key)
	if !had {
		old, had = r.lost.entry(ctx, entry.Key)
	}
	before := r.selector.past.entriesOf(ctx, c)
	if had {
		before = append(before, old)
	}
	for _, old := range before {
		if r.project.req.Update.accepts(entry.Key, old.Key) || r.run.addresses.mayBeOther(c, old) {
			continue
		}
		if changed := contentChange(c, old, entry); changed != nil {
			return changed
		}
	}
	return nil
}

// checkSourceBlocks returns an error if the lock has a block for the source and the version of a new entry, in the format
// of the later draft, whose h1 is neither that of the package nor that of the module's directory in it.
func (r *resolver) checkSourceBlocks(c *call, entry lockfile.Module, tree *store.Tree, subdir string) error {
	if c.Unlocked {
		return nil
	}
	for _, block := range blocksOf(r.project.Lock, c) {
		locked := block.Hash("h1")
		switch {
		case block.Version != entry.Version || r.project.req.Update.accepts(entry.Key):
		case locked == "":
			return fmt.Errorf("the lock has a block with version %s of its source (%s:%d), but no h1 hash in it with which the package could be compared; restore the hash, or remove the block",
				block.Version, block.Range.Filename, block.Range.Start.Line)
		case locked != tree.H1() && locked != tree.Below(subdir).H1():
			return &ContentChangedError{SourceBlock: true, Path: c.Path, Name: entry.Version.String(), Locked: string(locked), Now: string(tree.H1())}
		}
	}
	return nil
}

// contentChange returns nil if the content of two entries of a call is the same, or is allowed to differ.
func contentChange(c *call, old, entry lockfile.Module) *ContentChangedError {
	name, fixed := origins.FixedName(c.From, old, entry)
	if !fixed || !addrs.SameRecord(old.Source, entry.Source) || lockentry.SameContent(old, entry) {
		return nil
	}
	changed := &ContentChangedError{Path: c.Path, Name: name, Locked: old.Revision(), Now: entry.Revision()}
	if changed.Locked == changed.Now { // archives have no revisions
		changed.Locked, changed.Now = string(old.Hash("h1")), string(entry.Hash("h1"))
	}
	return changed
}

// checkKey returns an error if the directory of a call cannot have its name: it is too long, or that of another
// call on a file system that ignores case.
func (r *resolver) checkKey(c *call) error {
	if len(c.Key()) > maxKey {
		return fmt.Errorf("the module's path is longer than %d bytes, which is too long for the name of a directory", maxKey)
	}
	if !r.project.foldsCase {
		return nil
	}
	first, taken := r.folded.LoadOrStore(strings.ToLower(c.Key()), c)
	other := first.(*call)
	if !taken || other.Key() == c.Key() {
		return nil
	}
	return fmt.Errorf("%w for this file system, which does not distinguish upper and lower case: %s, called at %s:%d, and %s; rename one of them",
		ErrSameKey, other.Path, other.Range.Filename, other.Range.Start.Line, c.Path)
}

// checkHost returns an error if a locked module would come from another registry now, unless the user has named
// the dialect.
func (r *resolver) checkHost(c *call, entry lockfile.Module) error {
	source, ok := c.From.Address.(addrs.ModuleSourceRegistry)
	if !ok || r.project.dialectGiven || entry.Source == nil || c.From.IsOf(entry) {
		return nil
	}
	other := otherDialect(r.project.Dialect)
	was, err := other.Parser().ParseModuleSource(c.Source)
	locked, ok := entry.Source.(addrs.ModuleSourceRegistry)
	if err != nil || !ok || was != entry.Source {
		return nil //nolint:nilerr // the call itself has changed
	}
	return &HostChangedError{Path: c.Path, Locked: locked.Package.Host.ForDisplay(), Now: source.Package.Host.ForDisplay(), Dialect: other}
}

func (p *openProject) assumedDialectOf(c *call) event.Warning {
	if c == nil {
		return event.Warning{}
	}
	block, _ := c.Written()
	return p.assumedDialect(fmt.Sprintf("%q", addrs.Redact(block.Source)), c.Range)
}

// warnOfCredentials warns about a secret in a source address. It works, as in stock tools, but anyone who can
// read the configuration can read it. So can readers of modules.json, where stock tools look for the address as
// it is written.
func (r *resolver) warnOfCredentials(c *call) {
	remote, ok := c.From.Address.(addrs.ModuleSourceRemote)
	if !ok || !remote.Package.HoldsSecret() {
		return
	}
	r.events.emit(event.Warning{Path: c.Path, Range: c.PlaceOfSource(), Message: fmt.Sprintf("the source address contains credentials, which anyone who can read this file or %s can read; %s",
		path.Join(r.project.req.modulesPath(), "modules.json"), credentialAdvice(remote.Package))})
}

func credentialAdvice(pkg addrs.ModulePackage) string {
	switch pkg.Getter() {
	case "git":
		return "take them out and let git find them, by a credential helper (git config credential.helper), " +
			"url.<base>.insteadOf in your own git configuration, or a key in the ssh agent"
	case "s3", "gcs":
		return "take them out and name a profile, or leave them to the environment of the cloud's own tools"
	case "http", "https":
		return "take them out and put them into the file .netrc in your home directory (machine HOST login NAME password SECRET)"
	}
	return "take them out and get the package from a registry, a git repository or an OCI registry, " +
		"whose credentials are kept outside of the configuration"
}

func (r *resolver) lostEntry(ctx context.Context, c *call) (lockfile.Module, bool) {
	if _, locked := r.project.entry(c); locked || c.From.Address == nil || c.From.IsLocal() || r.project.req.Update.has(c.Key()) {
		return lockfile.Module{}, false
	}
	entry, ok := r.lost.entry(ctx, c.Key())
	if !ok || c.From.Mismatch(entry) != "" {
		return lockfile.Module{}, false
	}
	return entry, true
}

// replacedEntry returns what the lock keeps for a call whose source is replaced: the entry that it had before,
// or nil. Of the sides of a merge, the newer one counts.
func (r *resolver) replacedEntry(ctx context.Context, c *call) *lockfile.Module {
	sides := r.project.merge.modules[c.Key()]
	for _, lock := range []func() *lockfile.File{
		func() *lockfile.File { return r.project.Lock },
		func() *lockfile.File { return r.lost.earlierLock(ctx) },
	} {
		if len(sides) > 0 {
			break
		}
		for _, find := range []func(string) (lockfile.Module, bool){lock().Module, lock().Directory} {
			if entry, ok := find(c.Key()); ok {
				sides = append(sides, entry)
			}
		}
	}
	var newest *lockfile.Module
	for _, side := range sides {
		before, ok := entryBefore(side, c.Replaces())
		if ok && (newest == nil || newer(newest.Version, before.Version) == lockfile.Theirs) {
			newest = &before
		}
	}
	return newest
}
