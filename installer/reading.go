package installer

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/internal/project/treewalk"
	"github.com/cotterpin/cotter/internal/provider/treeproviders"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/providerfetch"
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
	w, err := p.walker(require)
	if err != nil {
		return nil, nil, err
	}
	w.Find = find
	modules, calls, failures := w.Walk(ctx)
	p.warnOfReplaced(calls)
	return modules, failures, ctxerr.Of(ctx)
}

func (p *reading) walker(require func(*module, config.Module)) (*treewalk.Walker, error) {
	config, err := p.clients.configFor(p.req)
	if err != nil {
		return nil, err
	}
	return &treewalk.Walker{Project: &p.Project, Config: config, Require: require, Parallel: p.clients.Parallel}, nil // Install passes warnings on
}

func (p *reading) warnOfReplaced(calls []*call) {
	if warning := replacedWarning(calls); warning.Message != "" {
		p.events.emit(warning)
	}
}

// installed walks the modules that are installed or, with fromLock, else locked.
func (p *reading) installed(ctx context.Context, fromLock bool, require func(*module, config.Module)) (treewalk.Tree, error) {
	w, err := p.walker(require)
	if err != nil {
		return treewalk.Tree{}, err
	}
	tree, err := w.Installed(ctx, fromLock, p.testDir())
	if errors.Is(err, treewalk.ErrNoLock) {
		err = &MissingLockError{p.req.lockFile()}
	}
	p.warnOfReplaced(tree.Calls)
	return tree, err
}

// requiredProviders returns the providers that the installed modules require. The error joins those about
// modules and those about the requirements.
func (p *reading) requiredProviders(ctx context.Context) ([]treeproviders.Required, error) {
	required := newRequirements(p.req.Project)
	tree, err := p.installed(ctx, false, required.add)
	if err != nil {
		return nil, err
	}
	pooled, err := required.pool()
	return pooled, join(joinFailures(tree.Failures), err)
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
	getter := &providerfetch.Getter{
		Source: source, Store: p.providerStore(), Stores: p.clients.evidenceOf(p.req),
		Rule: p.clients.ruleFor(evidencerules.Verify), Offline: true, Installed: p.providersPath(),
	}
	return func(ctx context.Context, entry lockfile.Provider) evidence.Evidence {
		return getter.Evidence(ctx, providerfetch.Want{Provider: entry.Address, Version: entry.Version, Platform: addrs.CurrentPlatform(), Locked: entry.Hashes})
	}
}
