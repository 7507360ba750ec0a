package cotter

import (
	"context"
	"errors"
	"sync"

	"github.com/cotterpin/cotter/internal/manifest"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/userkey"
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
	r := &run{in: in, req: req, events: &events{fn: in.OnEvent}}
	if result, err := r.nothingToInstall(ctx); result != nil || err != nil {
		return result, err
	}
	if err := r.open(ctx, shared); err != nil {
		return nil, err
	}
	result, err := r.install(ctx)
	r.confirmed.keep(r.cache)
	return result, errors.Join(err, r.close())
}

// open takes the project and reads what earlier runs left in it.
func (r *run) open(ctx context.Context, shared *session) error {
	key, err := r.in.sessionKey(shared, r.events)
	if err != nil {
		return err
	}
	onWait := func() { r.events.emit(Waiting{Dir: r.req.dir()}) }
	work, err := project.Open(ctx, r.req.location(), key, onWait)
	if err != nil {
		return err
	}
	r.in.warnOfFindings(r.events, work.Findings())
	r.work, r.installed = work, newInstallation(work)
	r.installed.startReading()
	if err = r.read(); err == nil {
		err = r.prepare(ctx, key, shared)
	}
	if err != nil {
		return errors.Join(err, r.close())
	}
	return nil
}

// close gives the project up, and ends the session that is the run's own.
func (r *run) close() error {
	r.installed.stopReading()
	var err error
	if r.ownsSession {
		err = r.session.close()
	}
	return errors.Join(err, r.work.Close())
}

// read reads the lock and the manifest. A manifest that cannot be read is as
// good as none: it is a hint, and is written anew.
func (r *run) read() error {
	src, err := r.work.Lock()
	if err != nil {
		return r.req.unusableLock(err)
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
func recordedManifest(work *project.Project) (*manifest.Manifest, error) {
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
func (r *run) prepare(ctx context.Context, key *userkey.Key, shared *session) error {
	r.former = sync.OnceValue(func() *lockfile.File { return formerLock(r.work, r.lockSrc, r.lock) })
	r.dialect = r.req.Dialect
	if r.dialect == DialectAuto {
		r.detected = r.req.detect(ctx, r.lockSrc, r.lock, r.recorded)
		r.dialect = r.detected.dialect
	}
	r.foldsCase = r.work.FoldsCase()
	if !r.work.HasLinks() {
		r.req.Layout = LayoutCopy
	}
	if r.session = shared; shared != nil {
		return nil
	}
	var err error
	if r.session, err = r.in.newSession(key, r.work.Stage("@cache")); err != nil { // no call can have this name
		return err
	}
	r.ownsSession = true
	r.session.warnOfCache(r.events)
	return nil
}

func (r *run) install(ctx context.Context) (_ *Result, err error) {
	if err := r.checkLost(); err != nil {
		return nil, err
	}
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
	if r.config == nil { // else a pipe with values would be read twice
		var err error
		if r.config, err = r.in.config(r.req); err != nil {
			return nil, err
		}
	}
	w := &walker{
		config:   r.config,
		dialect:  r.dialect,
		resolve:  r.resolve,
		warn:     r.warnDiagnostic,
		parallel: cap(r.slots),
	}
	nodes, err := w.walk(ctx, &node{dir: ".", now: r.req.dir()})
	if text := r.restored.warning(r.req.lockFile()); text != "" {
		r.warn(nil, text)
	}
	if text := r.assumption(); text != "" {
		r.warn(nil, text)
	}
	if text := rangesBeside(nodes); text != "" {
		r.warn(nil, text)
	}
	return nodes, errors.Join(r.refusals.err(r.req.lockFile()), err)
}
