package cotter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/treeproviders"
	"github.com/cotterpin/cotter/versions"
)

// Load reads an installed module tree: the configuration, modules.json and the lock. It
// contacts no server, hashes nothing and changes nothing. A linter or a scanner can use it
// to walk the modules of a project that was installed by any tool. A module that is not
// installed, or whose installed source differs from the configuration, is a *ModuleError
// that wraps [ErrNotInstalled]. With BestEffort it is listed in Result.Unresolved instead,
// and the rest is returned.
func (in *Installer) Load(ctx context.Context, req Request) (_ *Result, err error) {
	p, err := in.view(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	modules, failures, err := in.installedTree(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := failures.join(); err != nil && !req.BestEffort {
		return nil, err
	}
	result, known := p.newResult(modules), p.knownTrust(evidence.Verify, in.namedEvidence(req), in.CacheDir)
	for i, m := range modules {
		p.addRecorded(m, &result.Modules[i])
		if entry, ok := p.lock.Module(m.key()); ok && m.ownsPackage() {
			result.Modules[i].Evidence = known.evidenceOf(entry, m.call.from.FromPackage, p.dirs.VendoredDir(entry.Key) != "")
		}
	}
	for _, f := range failures.sorted() {
		unresolved := Unresolved{Path: f.path, Err: f.err}
		if f.call != nil {
			unresolved.Call, unresolved.Source = f.call.shown(req.KeepCredentials)
		}
		result.Unresolved = append(result.Unresolved, unresolved)
	}
	return result, nil
}

// installedTree walks the modules that are installed according to modules.json.
func (in *Installer) installedTree(ctx context.Context, p *openProject) ([]*module, *failures, error) {
	return in.walkInstalled(ctx, p, p.placeRecorded, nil)
}

// walkInstalled walks a project's modules without changing anything. require, which may be
// nil, is called with the configuration of each module. The error is about the walk as a
// whole.
func (in *Installer) walkInstalled(ctx context.Context, p *openProject, place func(context.Context, *call) (*module, error), require func(addrs.Module, ModuleConfig)) ([]*module, *failures, error) {
	config, err := in.config(p.req)
	if err != nil {
		return nil, nil, err
	}
	return in.walkInstalledWith(ctx, p, config, place, require)
}

// walkInstalledWith is walkInstalled with a given reader.
func (in *Installer) walkInstalledWith(ctx context.Context, p *openProject, config ConfigReader, place func(context.Context, *call) (*module, error), require func(addrs.Module, ModuleConfig)) ([]*module, *failures, error) {
	w := &walker{
		config: config, dialect: p.dialect, place: place, parallel: in.parallel(), require: require, packages: p.dirs.DataDir(""),
		warn: func(addrs.Module, *hcl.Diagnostic) {}, // Install passes these warnings on
	}
	modules, failures := w.walk(ctx, p.req.dir())
	return modules, failures, ctx.Err()
}

// placeRecorded finds the module of a call in the directory that modules.json records.
func (p *openProject) placeRecorded(_ context.Context, c *call) (*module, error) {
	if c.from.IsLocal() && c.own() {
		return localModule(c, p.dirs.Root)
	}
	record, ok := p.recorded.Lookup(c.key())
	if !ok {
		return nil, c.fail(ErrNotInstalled)
	}
	if record.Source != c.from.Address.String() {
		return nil, c.fail(fmt.Errorf("%w from this source but from %s", ErrNotInstalled, addrs.Redact(record.Source)))
	}
	m := &module{call: c, finalPath: record.Dir, currentPath: p.dirs.Path(record.Dir)}
	if info, err := os.Stat(m.currentPath); err != nil || !info.IsDir() {
		return nil, c.fail(fmt.Errorf("%w: its directory %s is gone", ErrNotInstalled, record.Dir))
	}
	m.pkg = p.recordedPackage(m)
	return m, nil
}

// recordedPackage returns the package of a module that modules.json records: its own, or
// its caller's.
func (p *openProject) recordedPackage(m *module) *placement {
	if m.call.from.IsLocal() {
		return m.call.caller.pkg
	}
	if dir := p.dirs.PackageDir(m.key()); pathsafe.Within(path.Clean(m.finalPath), dir) {
		return &placement{key: m.key(), finalPath: dir, realPath: p.dirs.RealPackageDir(m.key()), currentPath: p.dirs.PackagePath(m.key())}
	}
	if dir := p.dirs.DataDir(m.key()); pathsafe.Within(path.Clean(m.finalPath), dir) { // it was not vendored when it was installed
		return &placement{key: m.key(), finalPath: dir, realPath: dir, currentPath: p.dirs.DataPath(m.key())}
	}
	return &placement{key: m.key(), finalPath: m.finalPath, realPath: m.finalPath, currentPath: m.currentPath} // another tool placed it in another directory
}

// addRecorded adds the data of modules.json and the lock about a module to a result.
func (p *openProject) addRecorded(m *module, shown *Module) {
	if !m.ownsPackage() {
		return
	}
	if record, ok := p.recorded.Lookup(m.key()); ok {
		shown.Version = record.Version
	}
	if entry, ok := p.lock.Module(m.key()); ok {
		shown.Version, shown.Package, shown.Hashes = entry.Version, entry.Package, entry.Hashes
	}
}

// LoadProviders returns the providers that a configuration needs, with the data of their
// lock entries, in the order of the lock. It returns the providers that the installed
// modules or a local state require, and those in the lock that the state of a remote
// backend may need. It contacts no server, hashes nothing and changes nothing. Version is
// "" for a provider that is not in the lock.
func (in *Installer) LoadProviders(ctx context.Context, req Request) (_ []Provider, err error) {
	p, err := in.view(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	required, err := in.requiredProviders(ctx, p)
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
	knows := in.providerEvidence(p, store.ViewProviders(in.CacheDir, p.key))
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

// requiredProviders returns the providers that the installed modules require.
func (in *Installer) requiredProviders(ctx context.Context, p *openProject) ([]treeproviders.Required, error) {
	config, err := in.config(p.req)
	if err != nil {
		return nil, err
	}
	required := newRequirements()
	if _, err := in.installedRequirements(ctx, p, config, required); err != nil {
		return nil, err
	}
	return required.pool()
}

// installedRequirements adds the requirements of a project's installed modules to required,
// and returns the modules.
func (in *Installer) installedRequirements(ctx context.Context, p *openProject, config ConfigReader, required *requirements) ([]*module, error) {
	modules, failures, err := in.walkInstalledWith(ctx, p, config, p.placeRecorded, required.add)
	if err != nil {
		return nil, err
	}
	return modules, failures.join()
}
