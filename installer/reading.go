package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/ctxerr"
	"github.com/cotterpin/cotter/internal/evidencerules"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/treeproviders"
	"github.com/cotterpin/cotter/lockfile"
)

// reading is a run that reads what a project has. It changes nothing and sends no requests.
type reading struct {
	*openProject
	clients clients
	events  *events
}

// openToRead opens a project, which must be closed, for a run that only reads it.
func openToRead(ctx context.Context, in *Installer, req request) (*reading, error) {
	if err := cmp.Or(checkInstaller(in), req.check()); err != nil {
		return nil, err
	}
	if _, err := os.Stat(req.dir()); err != nil {
		return nil, err // an empty directory is a root module without calls, a missing one is not
	}
	by, err := userOf(in, nil)
	if err != nil {
		return nil, err
	}
	clients := clientsOf(in)
	config, err := clients.configFor(req)
	if err != nil {
		return nil, err
	}
	clients.Config = &rootReader{ConfigReader: config}
	p, err := view(ctx, req, by, false)
	if err != nil {
		return nil, err
	}
	return &reading{openProject: p, clients: clients, events: eventsOf(in, req.Project)}, nil
}

// walk walks the project's modules, which find finds. require, which may be nil, gets the configuration of
// each. The error is about the walk as a whole.
func (p *reading) walk(ctx context.Context, find func(context.Context, *call) (*module, error), require func(*module, config.Module)) ([]*module, *failures, error) {
	return p.walkFrom(ctx, p.rootModule(), find, require)
}

func (p *reading) walkFrom(ctx context.Context, root *module, find func(context.Context, *call) (*module, error), require func(*module, config.Module)) ([]*module, *failures, error) {
	config, err := p.clients.configFor(p.req)
	if err != nil {
		return nil, nil, err
	}
	w := &walker{project: p.openProject, config: config, root: root, find: find, require: require, parallel: p.clients.Parallel} // Install passes warnings on
	modules, calls, failures := w.walk(ctx)
	if warning := replacedWarning(calls); warning.Message != "" {
		p.events.emit(warning)
	}
	return modules, failures, ctxerr.Of(ctx)
}

func (p *reading) installedTree(ctx context.Context) ([]*module, *failures, error) {
	return p.walk(ctx, p.recordedModule, nil)
}

func (p *reading) recordedModule(_ context.Context, c *call) (*module, error) {
	if c.from.IsLocal() && c.own() && !c.from.IsLinked() {
		return localModule(c, p.dirs)
	}
	record, ok := p.recorded.Lookup(c.key())
	if !ok {
		return nil, c.fail(ErrNotInstalled)
	}
	if entry, locked := p.lock.Module(c.key()); c.replaced != nil && locked && !c.from.IsOf(entry) {
		return nil, c.fail(fmt.Errorf("%w from this source but from %s", ErrNotInstalled, addrs.Redact(entry.Source.String())))
	}
	if !isRecordOf(record, c, p.dialect.parser()) {
		return nil, c.fail(fmt.Errorf("%w from this source but from %s", ErrNotInstalled, addrs.Redact(record.Source)))
	}
	m := &module{call: c, finalPath: record.Dir, currentPath: p.dirs.Path(record.Dir)}
	if info, err := os.Stat(m.currentPath); err != nil || !info.IsDir() {
		return nil, c.fail(fmt.Errorf("%w: its directory %s is gone", ErrNotInstalled, record.Dir))
	}
	if !c.from.IsLinked() {
		m.pkg, m.subdir = p.recordedPackage(c, record.Dir)
	}
	return m, nil
}

// recordedOrLocked finds a module in the directory that modules.json records, or else in the lock.
func (p *reading) recordedOrLocked(ctx context.Context, c *call) (*module, error) {
	pkg := c.caller.pkg
	if c.isDirectory() {
		return localModule(c, p.dirs)
	}
	if !c.caller.isLocked() {
		m, err := p.recordedModule(ctx, c)
		if !errors.Is(err, ErrNotInstalled) {
			return m, err
		}
		pkg = nil
	}
	if entry, ok := p.lock.Module(c.key()); ok && c.from.Mismatch(entry) == "" {
		pkg = p.newPlacement(entry, nil)
	}
	if pkg == nil && !(c.caller.isLocked() && c.from.IsLocal()) {
		return nil, c.fail(ErrNotInstalled)
	}
	return &module{call: c, pkg: pkg, finalPath: p.dirs.PackageDir(c.key())}, nil
}

// recordedPackage returns the package of a module that modules.json records, its own or its caller's, and the
// directory of the module in it.
func (p *reading) recordedPackage(c *call, dir string) (pkg *placement, subdir string) {
	dir = path.Clean(dir)
	if pkg = c.caller.pkg; !c.from.IsLocal() {
		entry, _ := p.lock.Module(c.key())
		entry.Key = c.key()
		pkg = p.newPlacement(entry, nil)
		if files, top := p.dirs.Recorded(c.key(), dir); top != pkg.finalPath {
			pkg.files, pkg.finalPath, pkg.realPath = files, top, top
		}
	}
	for _, top := range []string{pkg.finalPath, pkg.realPath} {
		if pathsafe.Within(dir, top) {
			return pkg, path.Clean("." + strings.TrimPrefix(dir, top))
		}
	}
	return pkg, path.Join("..", dir) // outside of the package, which is an error when it is read
}

// addRecorded adds the data of modules.json and the lock about a module to a result.
func (p *reading) addRecorded(m *module, shown *Module) {
	if !m.ownsPackage() {
		return
	}
	if record, ok := p.recorded.Lookup(m.key()); ok && !record.IsReplaced() {
		shown.Version = versionOf(record.Version)
	}
	if entry, ok := p.lock.Module(m.key()); ok {
		shown.Version, shown.Package, shown.Hashes = entry.Version, entry.Package, entry.Hashes
	}
}

// requiredProviders returns the providers that the installed modules require. The error joins those about
// modules and those about the requirements.
func (p *reading) requiredProviders(ctx context.Context) ([]treeproviders.Required, error) {
	required := newRequirements(p.req.Project)
	_, failures, err := p.installedRequirements(ctx, required)
	if err != nil {
		return nil, err
	}
	pooled, err := required.pool()
	return pooled, join(failures.join(), err)
}

func (p *reading) installedRequirements(ctx context.Context, required *requirements) ([]*module, *failures, error) {
	return p.walk(ctx, p.recordedModule, required.add)
}

func (p *reading) trust() *trust {
	return offlineTrust(p.openProject, p.clients.ruleFor(evidencerules.Verify), p.clients.evidenceOf(p.req), p.clients.CacheDir)
}

func (p *reading) providerStore() *store.Providers {
	return store.ViewProviders(p.clients.CacheDir, p.user.key)
}

// providerEvidence returns a function that returns who confirms the package of a lock entry for this platform.
// It sends no requests.
func (p *reading) providerEvidence() func(context.Context, lockfile.Provider) evidence.Evidence {
	source := p.req.ProviderSource
	if source == nil {
		source = p.clients.Providers
	}
	getter := &providers.Getter{
		Source: source, Store: p.providerStore(), Stores: p.clients.evidenceOf(p.req),
		Rule: p.clients.ruleFor(evidencerules.Verify), Offline: true, Installed: p.providersPath(),
	}
	return func(ctx context.Context, entry lockfile.Provider) evidence.Evidence {
		return getter.Evidence(ctx, providers.Want{Provider: entry.Address, Version: entry.Version, Platform: addrs.CurrentPlatform(), Locked: entry.Hashes})
	}
}
