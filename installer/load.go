package installer

import (
	"context"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/internal/project/treewalk"
	"github.com/cotterpin/cotter/internal/provider/treeproviders"
	"github.com/cotterpin/cotter/internal/store"
)

// Load reads an installed module tree, by any tool: the configuration, modules.json and the lock. It contacts
// no server, hashes nothing and changes nothing. With Providers, the result has those that the modules
// require, and those in the lock that no module requires.
//
// A module that is not installed, or whose source differs from the configuration, is a *[ModuleError] that
// wraps [ErrNotInstalled]. One that cannot be read completely is a *[ConfigError], but its calls that could be
// read are followed. The error joins these, unless BestEffort is set, and errors about providers. The result is
// nil only if the tree could not be walked at all. Files that cannot have module calls are parsed only with
// Providers.
func (in *Installer) Load(ctx context.Context, project Project, o LoadOptions) (_ *Result, err error) {
	defer ctxerr.Keep(ctx, &err)
	p, err := openToRead(ctx, in, readingOf(project, o.scope()))
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, p.close()) }()
	required := newRequirements(p.req.Project)
	tree, err := p.installed(ctx, o.FromLock, required.ifNeeded(o.scope()))
	if err != nil {
		return nil, err
	}
	result := p.loadedModules(tree)
	if !o.BestEffort {
		err = joinFailures(tree.Failures)
	}
	if o.Providers {
		var failed error
		result.Providers, failed = p.loadedProviders(ctx, required, tree.FromLock)
		err = join(err, failed)
	}
	return result, err
}

// ifNeeded returns nil if the run is not about providers.
func (r *requirements) ifNeeded(scope Scope) func(*module, config.Module) {
	if !scope.providers() {
		return nil
	}
	return r.add
}

func (p *reading) loadedModules(tree treewalk.Tree) *Result {
	result, known := p.newResult(tree.Modules), p.trust()
	for i, m := range tree.Modules {
		result.Modules[i] = moduleOf(p.DescribeRecorded(m, p.req.KeepCredentials))
		if entry, ok := p.Lock.Module(m.Key()); ok && m.OwnsPackage() && !m.Call.Unlocked {
			result.Modules[i].Evidence = known.evidenceOf(entry, m.Call)
		}
	}
	addUnresolved(tree.Failures, result, p.req.KeepCredentials)
	return result
}

// loadedProviders returns the providers that a project needs. With fromLock, some modules were not read, so the
// lock decides.
func (p *reading) loadedProviders(ctx context.Context, found *requirements, fromLock bool) ([]Provider, error) {
	required, failed := found.pool()
	lock, err := p.providerLock()
	if err != nil {
		return nil, join(failed, err)
	}
	if fromLock {
		required = withLocked(required, lock)
	}
	others := treeproviders.FindUnrequired(lock.Lock, required, false)
	knows := p.providerEvidence()
	var list []Provider
	for _, r := range treeproviders.Sorted(required, others.Kept) {
		entry, _ := lock.Provider(r.Address)
		shown := Provider{Address: r.Address, RequiredBy: r.Uses, Constraints: r.Want, Hashes: entry.Hashes, LockedAs: entry.From, Evidence: knows(ctx, entry.Provider)}
		if shown.Version = entry.Version; !entry.Version.IsZero() {
			at := filepath.Join("providers", filepath.FromSlash(store.ProviderPath(r.Address, entry.Version, addrs.CurrentPlatform())))
			if exists(filepath.Join(p.req.dataPath(), at)) {
				shown.Dir = filepath.ToSlash(filepath.Join(p.req.dataDir(), at))
			}
		}
		list = append(list, shown)
	}
	return list, failed
}
