package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/git/worktree"
	"github.com/cotterpin/cotter/internal/installerinternal/hook"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/lockfile"
)

func restore(ctx context.Context, in *Installer, project Project, earlier *lockfile.File) (restored *hook.Restored, err error) {
	defer ctxerr.Keep(ctx, &err)
	req := request{Project: project}
	if err := cmp.Or(checkInstaller(in), req.checkForRestore(), ctxerr.Of(ctx)); err != nil {
		return nil, err
	}
	if earlier != nil { // the project is not taken if the lock has everything
		lock, err := ReadLock(ctx, project)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(earlier.Modules(), func(m lockfile.Module) bool { _, has := lock.Module(m.Key); return !has }) {
			return nil, hook.ErrNothingToRestore
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
		return nil, fmt.Errorf("%w; %w", hook.ErrNothingToRestore, end)
	}
	return nil, hook.ErrNothingToRestore
}

type earlierLock struct {
	from string         // "" for the argument of Restore
	lock *lockfile.File // nil if there is none
}

// restoreSources returns the sources of earlier locks in the order in which Restore tries them. If one is
// given, it is the only one.
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
	if len(p.Lock.Modules()) == 0 {
		sources = append(sources, inHistory(worktree.Modules))
	}
	sources = append(sources, func() (earlierLock, error) {
		lock, err := worktree.LockAt(ctx, p.req.dir(), p.req.lockFile(), "HEAD")
		return earlierLock{p.req.headLock(), lock}, err
	})
	if len(p.Lock.Providers()) == 0 {
		sources = append(sources, inHistory(worktree.Providers))
	}
	return sources
}

// restoreFrom puts back the entries of an earlier lock that the lock lacks; nil if there are none.
func (p *reading) restoreFrom(ctx context.Context, former earlierLock) (*hook.Restored, error) {
	lock, restored := p.Lock.Clone(), &hook.Restored{From: former.from}
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
	if err := project.WriteLock(p.req.location(), p.LockSrc, lock.Bytes()); err != nil {
		return nil, err
	}
	return restored, nil
}

// restoreModules adds to lock the lost modules that match the configuration, and restores the header.
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

// restoreProviders does the same for providers. It restores nothing if the requirements cannot be read; the
// next installation reports that.
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

// unfitEntries returns the keys of a lock's entries that do not match the configuration. The calls below
// modules that are not installed are not known, and fit.
func (p *reading) unfitEntries(ctx context.Context, lock *lockfile.File) (map[string]bool, error) {
	restored := *p.openProject
	restored.Lock, restored.rules = lock, nil
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
	for _, f := range failures.Sorted() {
		var stale *ModuleError
		if errors.As(f.Err, &stale) && !errors.Is(f.Err, ErrNotInstalled) {
			unfit[f.Path.String()] = true
		}
	}
	return unfit, nil
}

func (r request) headLock() string { return "git show HEAD:" + r.lockFile() }
