package cotter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/manifest"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/userkey"
	"github.com/cotterpin/cotter/lockfile"
)

// Load reads an installed module tree: the configuration, modules.json and the
// lock. It asks no server, hashes nothing and changes nothing, so a linter or a
// scanner can walk the modules of a project that was installed by whichever
// tool. A module that is not installed, or not with the source that the
// configuration has now, is a *ModuleError over [ErrNotInstalled]; with
// BestEffort it is in Result.Unresolved, and the rest is returned.
func (in *Installer) Load(ctx context.Context, req Request) (*Result, error) {
	l, err := in.loader(ctx, req)
	if err != nil {
		return nil, err
	}
	nodes, failures, err := l.survey(ctx)
	if err := errors.Join(err, ctx.Err()); err != nil {
		return nil, err
	}
	if err := failures.join(); err != nil && !req.BestEffort {
		return nil, err
	}
	result := &Result{Dialect: l.dialect, LockFile: filepath.Join(req.dir(), req.lockFile())}
	for _, n := range nodes {
		result.Modules = append(result.Modules, l.module(n))
	}
	for _, f := range failures.sorted() {
		unresolved := Unresolved{Path: f.node.path, Call: f.node.call, Source: f.node.source, Err: f.err}
		result.Unresolved = append(result.Unresolved, unresolved)
	}
	return result, nil
}

// survey walks the installed tree.
func (l *loader) survey(ctx context.Context) ([]*node, *failures, error) {
	return l.surveyBy(ctx, l.resolve)
}

// surveyBy walks the tree with a resolver.
func (l *loader) surveyBy(ctx context.Context, resolve func(context.Context, *node) error) ([]*node, *failures, error) {
	if l.config == nil {
		var err error
		if l.config, err = l.in.config(l.req); err != nil {
			return nil, nil, err
		}
	}
	w := &walker{
		config:   l.config,
		dialect:  l.dialect,
		resolve:  resolve,
		warn:     func(*node, *hcl.Diagnostic) {},
		parallel: l.in.parallel(),
	}
	nodes, failures := w.survey(ctx, &node{dir: ".", now: l.req.dir()})
	return nodes, failures, nil
}

// loader resolves calls by what is recorded.
type loader struct {
	in       *Installer
	req      Request
	key      *userkey.Key
	rules    rules
	config   ConfigReader
	dialect  Dialect
	lock     *lockfile.File
	recorded *manifest.Manifest
	// manifestErr is why there is no manifest though there is a directory for
	// it.
	manifestErr error

	// former is the lock by which the modules were installed; nil where that is
	// not known.
	former *lockfile.File

	// What verify finds: packages that differ, by their keys, and records of
	// modules.json and entries of the lock that do.
	changed           map[string]bool
	misplaced, edited failures
	// confirmed are the keys of entries that an origin has confirmed.
	confirmed sync.Map
}

// loader reads what a project has: the lock and the manifest, both as good as
// empty where they are absent.
func (in *Installer) loader(ctx context.Context, req Request) (*loader, error) {
	l := &loader{in: in, req: req, recorded: &manifest.Manifest{}, dialect: req.Dialect}
	src, err := readLock(req)
	if err != nil {
		return nil, err
	}
	if l.key, err = in.knownKey(); err != nil {
		return nil, err
	}
	if l.lock, err = parseLock(src, req); err != nil {
		return nil, err
	}
	if work, err := project.View(req.location(), l.key); err == nil {
		l.recorded, l.manifestErr = recordedManifest(work)
		l.former = formerLock(work, src, l.lock)
		if err := work.Close(); err != nil {
			return nil, err
		}
	}
	if l.dialect == DialectAuto {
		l.dialect = req.detect(ctx, src, l.lock, l.recorded).dialect
	}
	return l, nil
}

func parseLock(src []byte, req Request) (*lockfile.File, error) {
	lock, diags := lockfile.Parse(src, req.lockFile())
	if diags.HasErrors() {
		return nil, &LockFileError{File: req.lockFile(), Diagnostics: diags}
	}
	return lock, nil
}

func (l *loader) resolve(_ context.Context, n *node) error {
	if err := parseCall(n, l.dialect); err != nil {
		return err
	}
	if _, ok := n.source.(addrs.ModuleSourceLocal); ok && n.parent.pkg == nil {
		return placeLocal(n, l.req.dir())
	}
	record, ok := l.recorded.Lookup(n.path.String())
	if !ok {
		return n.fail(fmt.Errorf("%w; run cotter install", ErrNotInstalled))
	}
	if record.Source != n.source.String() {
		return n.fail(fmt.Errorf("%w from this source but from %s; run cotter install", ErrNotInstalled, addrs.Redact(record.Source)))
	}
	n.dir = record.Dir
	n.now = filepath.Join(l.req.dir(), filepath.FromSlash(record.Dir))
	if filepath.IsAbs(record.Dir) {
		n.now = record.Dir
	}
	if info, err := os.Stat(n.now); err != nil || !info.IsDir() {
		return n.fail(fmt.Errorf("%w: its directory %s is gone; run cotter install", ErrNotInstalled, record.Dir))
	}
	n.enterRecorded(l.req)
	return nil
}

// enterRecorded finds the package of a recorded module: its own, or its
// caller's.
func (n *node) enterRecorded(req Request) {
	if _, ok := n.source.(addrs.ModuleSourceLocal); ok {
		n.pkg = n.parent.pkg
		return
	}
	key := n.path.String()
	dir := req.installDir(key)
	n.pkg = &placed{key: key, dir: dir, now: filepath.Join(req.dataPath(), "modules", key)}
	if !within(path.Clean(n.dir), dir) { // another tool placed it elsewhere
		n.pkg.dir, n.pkg.now = n.dir, n.now
	}
}

// module is the node as results show it; what the manifest does not tell comes
// from the lock.
func (l *loader) module(n *node) Module {
	m := Module{Path: n.path, Call: n.call, Source: n.source, Dir: n.dir}
	if !n.ownsPackage() {
		return m
	}
	if record, ok := l.recorded.Lookup(n.path.String()); ok {
		m.Version = record.Version
	}
	if entry, ok := l.lock.Module(n.path.String()); ok {
		m.Version, m.Package, m.Hashes = entry.Version, entry.Package, entry.Hashes
	}
	return m
}
