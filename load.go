package cotter

import (
	"context"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/treeproviders"
	"github.com/cotterpin/cotter/versions"
)

// Load reads an installed module tree: the configuration, modules.json and the lock. It
// contacts no server, hashes nothing and changes nothing. A linter or a scanner can use it
// to walk the modules of a project that was installed by any tool.
//
// A module that is not installed, or whose installed source differs from the configuration,
// is a *ModuleError that wraps [ErrNotInstalled]. A module of which not everything can be
// read is a *ConfigError; its calls that could be read are followed nevertheless. The error
// joins all of these errors in the order of the modules' paths, unless BestEffort is set. In
// both cases the result is complete but for these modules, and Result.Unresolved lists
// them. The result is nil only if the tree could not be walked at all.
func (in *Installer) Load(ctx context.Context, req Request) (_ *Result, err error) {
	p, err := openToRead(ctx, in, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, p.close()) }()
	modules, failures, err := p.installedTree(ctx)
	if err != nil {
		return nil, err
	}
	result, known := p.newResult(modules), p.trust()
	for i, m := range modules {
		p.addRecorded(m, &result.Modules[i])
		if entry, ok := p.lock.Module(m.key()); ok && m.ownsPackage() {
			result.Modules[i].Evidence = known.evidenceOf(entry, m.call.from.FromPackage, p.dirs.VendoredDir(entry.Key) != "")
		}
	}
	failures.addTo(result, req.KeepCredentials)
	if req.BestEffort {
		return result, nil
	}
	return result, failures.join()
}

// LoadProviders returns the providers that a configuration needs, with the data of their
// lock entries, in the order of the lock. It returns the providers that the installed
// modules or a local state require, and those in the lock that the state of a remote
// backend may need. It contacts no server, hashes nothing and changes nothing. Version is
// "" for a provider that is not in the lock.
func (in *Installer) LoadProviders(ctx context.Context, req Request) (_ []Provider, err error) {
	p, err := openToRead(ctx, in, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, p.close()) }()
	required, err := p.requiredProviders(ctx)
	if err != nil {
		return nil, err
	}
	lock, err := p.providerLock()
	if err != nil {
		return nil, err
	}
	others, err := p.unrequired(ctx, lock, required)
	if err != nil {
		return nil, err
	}
	required = treeproviders.Sorted(required, others.InState, others.Kept)
	knows := p.providerEvidence()
	var list []Provider
	for _, r := range required {
		entry, _ := lock.Provider(r.Address)
		shown := Provider{Address: r.Address, RequiredBy: r.Uses, Version: entry.Version, Constraints: r.Want.String(), Hashes: entry.Hashes, LockedAs: entry.From, Evidence: knows(ctx, entry.Provider)}
		if version, err := versions.Parse(entry.Version); err == nil {
			at := filepath.Join("providers", filepath.FromSlash(store.ProviderPath(r.Address, version, addrs.CurrentPlatform())))
			if exists(filepath.Join(req.dataPath(), at)) {
				shown.Dir = filepath.ToSlash(filepath.Join(req.dataDir(), at))
			}
		}
		list = append(list, shown)
	}
	return list, nil
}

// FindDialect returns the dialect of a project: the one in the request, or the one that
// DialectAuto detects. known reports whether the request names the dialect or the project
// has a sign of it; otherwise the dialect is a guess.
func (in *Installer) FindDialect(ctx context.Context, req Request) (_ Dialect, known bool, err error) {
	p, err := openToRead(ctx, in, req)
	if err != nil {
		return DialectAuto, false, err
	}
	return p.dialect, p.dialectGiven || !p.detected.IsGuess(), p.close()
}

// DialectSigns returns the signs by which DialectAuto detects the dialect of a project. It
// ignores the dialect in the request. The first sign decides; without any sign, tofu is
// assumed.
func (in *Installer) DialectSigns(ctx context.Context, req Request) ([]DialectSign, error) {
	req.Dialect = DialectAuto
	p, err := openToRead(ctx, in, req)
	if err != nil {
		return nil, err
	}
	var signs []DialectSign
	for _, s := range p.detected.Signs {
		signs = append(signs, DialectSign{dialectOf(s.Tool), s.What})
	}
	return signs, p.close()
}
