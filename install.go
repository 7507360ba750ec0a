package cotter

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/cotterpin/cotter/internal/manifest"
	"github.com/cotterpin/cotter/internal/workdir"
	"github.com/cotterpin/cotter/lockfile"
)

// Install installs the modules of a configuration: what the lock has, exactly
// as it says, and the newest that is wanted of what it does not have. It
// writes the modules to their places, then the lock, then modules.json; after
// an error all three are as they were.
//
// A module that failed is a *ModuleError, configuration that could not be read
// a *ConfigError, an unusable lock a *LockFileError, a lock that may not change
// and would have to a *LockedError. When several modules failed the error joins
// all of them, in the order of their paths.
func (in *Installer) Install(ctx context.Context, req Request) (*Result, error) {
	return in.installIn(ctx, nil, req)
}

// installIn is Install as part of a session, or with one of its own where that
// is nil.
func (in *Installer) installIn(ctx context.Context, shared *session, req Request) (*Result, error) {
	if err := req.checkUpgradeTo(); err != nil {
		return nil, err
	}
	project, err := os.OpenRoot(req.dir())
	if err != nil {
		return nil, err
	}
	defer project.Close()
	r := &run{in: in, req: req, events: events{fn: in.OnEvent}, session: shared}
	if err := r.open(ctx, project); err != nil {
		return nil, err
	}
	result, err := r.install(ctx)
	r.confirmed.keep(r.store)
	return result, errors.Join(err, r.close())
}

// open takes the project and reads what earlier runs left in it.
func (r *run) open(ctx context.Context, project *os.Root) error {
	files := workdir.Files{Project: project, LockFile: r.req.lockFile()}
	onWait := func() { r.events.emit(Waiting{Dir: r.req.dir()}) }
	work, err := workdir.Open(ctx, r.req.dataPath(), files, onWait)
	if err != nil {
		return err
	}
	r.work, r.installed = work, &installation{work: work}
	r.installed.startReading()
	err = r.read(project)
	if err == nil {
		err = r.heal()
	}
	if err != nil {
		return errors.Join(err, r.close())
	}
	r.prepare()
	return nil
}

// close gives the project up.
func (r *run) close() error {
	r.installed.stopReading()
	return r.work.Close()
}

// read reads the lock and the manifest. A manifest that cannot be read is as
// good as none: it is a hint, and is written anew.
func (r *run) read(project *os.Root) error {
	src, err := project.ReadFile(r.req.lockFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.lockSrc = src
	r.recorded, _ = recordedManifest(r.work) // what cannot be read is written anew
	if r.lock, err = parseLock(src, r.req); err != nil {
		return err
	}
	r.rules, err = r.req.readRules()
	return err
}

// recordedManifest is modules.json, and an empty manifest where that is absent
// or cannot be read.
func recordedManifest(work *workdir.Dir) (*manifest.Manifest, error) {
	src, err := work.Manifest()
	if err == nil {
		var recorded *manifest.Manifest
		if recorded, err = manifest.Parse(src); err == nil {
			return recorded, nil
		}
	}
	return &manifest.Manifest{}, err
}

// prepare fills in what the caller left to us.
func (r *run) prepare() {
	r.former = sync.OnceValue(func() *lockfile.File { return formerLock(r.work, r.lockSrc, r.lock) })
	r.dialect = r.req.Dialect
	if r.dialect == DialectAuto {
		r.dialect = detectDialect(r.req.dir(), r.lock, r.recorded)
	}
	if r.session == nil {
		r.session = r.in.newSession(orElse(r.in.CacheDir, r.work.Stage("@cache"))) // no call can have this name
		r.store.Sweep()
	}
}

func (r *run) install(ctx context.Context) (_ *Result, err error) {
	if r.req.Unify {
		if r.unifier, err = r.unify(ctx); err != nil {
			return nil, err
		}
	}
	nodes, err := r.walk(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.arrange(ctx, nodes); err != nil {
		return nil, err
	}
	plan, err := r.plan(ctx, nodes)
	if err != nil {
		return nil, err
	}
	if err := r.commit(plan); err != nil {
		return nil, err
	}
	return plan.result, nil
}

// walk resolves the whole tree.
func (r *run) walk(ctx context.Context) ([]*node, error) {
	config, err := r.in.config(r.req)
	if err != nil {
		return nil, err
	}
	w := &walker{
		config:   config,
		dialect:  r.dialect,
		resolve:  r.resolve,
		warn:     r.warnDiagnostic,
		parallel: cap(r.slots),
	}
	nodes, err := w.walk(ctx, &node{dir: ".", now: r.req.dir()})
	return nodes, errors.Join(r.refusals.err(r.req.lockFile()), err)
}
