package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/ctxerr"
	"github.com/cotterpin/cotter/internal/evidencerules"
	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/git/worktree"
	"github.com/cotterpin/cotter/lockfile"
)

// ErrNothingToRestore says that neither the copy of the lock nor git's history has an entry that
// the lock lacks. It may be joined by a *repository.HistoryEndError if the history is not complete.
var ErrNothingToRestore = errors.New("there are no entries to restore: neither the copy of the last run nor git's history has one that the lock lacks")

// Restored lists what Restore put back.
type Restored struct {
	// From is the source of the entries: "the copy of the last run", "git show HEAD:FILE", or
	// "commit 3f2a91c (2026-10-02)". It is "" for those of the argument of Restore.
	From string
	// Modules are the calls whose entries were restored.
	Modules []addrs.Module
	// Providers are the providers whose entries were restored.
	Providers []addrs.Provider
}

// Restore puts back entries that the lock has lost. If earlier is not nil, it takes the module
// entries that earlier has and the lock lacks, for example after a stock tool has rewritten the
// lock. Otherwise it takes module and provider entries from the first of these that has any:
//
//   - the copy that the last run kept
//   - the last git commit, or for a lock without module entries the newest commit whose lock has
//     them, along the first parents of at most 200 commits that changed the lock
//   - the same for a lock without provider entries
//
// It changes nothing else. It skips the entry of a call that the configuration no longer has, or
// has with another source or constraint. It also skips the entry of a provider if no installed
// module requires that version. If there is nothing to put back, the error wraps
// [ErrNothingToRestore]. A git repository of another user is used only if safe.directory allows
// it; otherwise a warning of the kind [event.WarningRepositoryOwner] is sent.
func (in *Installer) Restore(ctx context.Context, project Project, earlier *lockfile.File) (restored *Restored, err error) {
	defer ctxerr.Keep(ctx, &err)
	req := request{Project: project}
	if err := cmp.Or(req.checkForRestore(), ctxerr.Of(ctx)); err != nil {
		return nil, err
	}
	if earlier != nil { // the project is not taken if the lock has everything
		lock, err := ReadLock(ctx, project)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(earlier.Modules(), func(m lockfile.Module) bool { _, has := lock.Module(m.Key); return !has }) {
			return nil, ErrNothingToRestore
		}
	}
	events := eventsOf(in, project)
	by, err := userOf(in, events)
	if err != nil {
		return nil, err
	}
	opened, err := openToChange(ctx, req, by, events)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, opened.close()) }()
	p := &reading{openProject: opened, clients: clientsOf(in), events: events}
	var end *worktree.HistoryEndError
	for _, source := range p.restoreSources(ctx, earlier) {
		found, err := source()
		if _, ok := errors.AsType[*gitdir.OwnerError](err); ok {
			events.emit(event.Warning{Message: err.Error(), Kind: event.WarningRepositoryOwner})
		}
		if end == nil {
			errors.As(err, &end)
		}
		if err != nil || found.lock == nil {
			continue // the project may not be in a git repository
		}
		if restored, err = p.restoreFrom(ctx, found); restored != nil || err != nil {
			return restored, err
		}
	}
	if end != nil {
		return nil, fmt.Errorf("%w; %w", ErrNothingToRestore, end)
	}
	return nil, ErrNothingToRestore
}

// earlierLock is a lock that may have entries which the current lock lacks.
type earlierLock struct {
	from string         // "" for the argument of Restore
	lock *lockfile.File // nil if there is none
}

// restoreSources returns the sources of an earlier lock, in the order in which Restore tries them. If
// one is given, that is the only source.
func (p *openProject) restoreSources(ctx context.Context, given *lockfile.File) []func() (earlierLock, error) {
	if given != nil {
		return []func() (earlierLock, error){func() (earlierLock, error) { return earlierLock{"", given}, nil }}
	}
	inHistory := func(block worktree.Block) func() (earlierLock, error) {
		return func() (earlierLock, error) {
			version, err := worktree.FindLock(ctx, p.req.dir(), p.req.lockFile(), block)
			if version == nil {
				return earlierLock{}, err
			}
			from := version.String()
			if version.IsHead {
				from = p.req.headLock()
			}
			return earlierLock{from, version.Lock}, nil
		}
	}
	sources := []func() (earlierLock, error){
		func() (earlierLock, error) { return earlierLock{fromCopy, p.former}, nil },
	}
	if len(p.lock.Modules()) == 0 {
		sources = append(sources, inHistory(worktree.Modules))
	}
	sources = append(sources, func() (earlierLock, error) {
		lock, err := worktree.LockAt(ctx, p.req.dir(), p.req.lockFile(), "HEAD")
		return earlierLock{p.req.headLock(), lock}, err
	})
	if len(p.lock.Providers()) == 0 {
		sources = append(sources, inHistory(worktree.Providers))
	}
	return sources
}

// restoreFrom puts back the entries that an earlier lock has and the lock lacks; only those of modules
// if it is the argument of Restore. It returns nil if there are none.
func (p *reading) restoreFrom(ctx context.Context, former earlierLock) (*Restored, error) {
	lock, restored := p.lock.Clone(), &Restored{From: former.from}
	var err error
	if restored.Modules, err = p.restoreModules(ctx, former.lock, lock); err != nil {
		return nil, err
	}
	if former.from != "" {
		restored.Providers = p.restoreProviders(ctx, former.lock, lock)
	}
	if len(restored.Modules)+len(restored.Providers) == 0 {
		return nil, nil
	}
	if err := lock.Check(); err != nil {
		return nil, err
	}
	if err := p.files.WriteLock(p.lockSrc, lock.Bytes()); err != nil {
		return nil, err
	}
	return restored, nil
}

// restoreModules adds to lock the modules of an earlier lock that it lacks and that match
// the configuration. It also restores the header, and returns the paths of the modules.
func (p *reading) restoreModules(ctx context.Context, former, lock *lockfile.File) ([]addrs.Module, error) {
	var lost []lockfile.Module
	for _, entry := range former.Modules() {
		if _, has := lock.Module(entry.Key); !has {
			lost = append(lost, entry)
			lock.SetModule(entry)
		}
	}
	if len(lost) == 0 {
		return nil, nil
	}
	unfit, err := p.unfitEntries(ctx, lock)
	if err != nil {
		return nil, err
	}
	var paths []addrs.Module
	for _, entry := range lost {
		if unfit[entry.Key] {
			lock.RemoveModule(entry.Key)
			continue
		}
		paths = append(paths, pathOf(entry.Key))
	}
	if len(paths) > 0 {
		lock.RestoreHeader(former)
	}
	return paths, nil
}

// restoreProviders does the same for providers, and returns their addresses. If the
// requirements cannot be read, it restores nothing; the next installation reports what is
// wrong.
func (p *reading) restoreProviders(ctx context.Context, former, lock *lockfile.File) []addrs.Provider {
	if len(former.Providers()) == 0 {
		return nil
	}
	required, err := p.requiredProviders(ctx)
	if err != nil {
		return nil
	}
	var restored []addrs.Provider
	for _, r := range required {
		entry, had := former.Provider(r.Address)
		_, has := lock.Provider(r.Address)
		if had && !has && r.Fits(entry.Version) {
			lock.SetProvider(entry)
			restored = append(restored, r.Address)
		}
	}
	return restored
}

// unfitEntries returns the keys of a lock's entries that do not match the configuration. It
// does not include entries below modules that are not installed, because their calls are
// not known.
func (p *reading) unfitEntries(ctx context.Context, lock *lockfile.File) (map[string]bool, error) {
	restored := *p.openProject
	restored.lock, restored.rules = lock, nil
	cmp := &comparison{
		reading: &reading{openProject: &restored, clients: p.clients, events: p.events}, run: offlineTrust(&openProject{user: p.user}, evidencerules.For(evidencerules.Restore), nil, ""),
	}
	modules, failures, err := cmp.walk(ctx, cmp.module, nil)
	if err != nil {
		return nil, err
	}
	unfit := make(map[string]bool)
	for _, key := range goneEntries(lock, modules, failures) {
		unfit[key] = true
	}
	for _, f := range failures.sorted() {
		var stale *ModuleError
		if errors.As(f.err, &stale) && !errors.Is(f.err, ErrNotInstalled) {
			unfit[f.path.String()] = true
		}
	}
	return unfit, nil
}

// headLock names the lock in the last commit of the project's repository.
func (r request) headLock() string { return "git show HEAD:" + r.lockFile() }
