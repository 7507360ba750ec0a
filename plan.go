package cotter

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/manifest"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
)

// plan is what a run is about to change, complete and verified.
type plan struct {
	result *Result
	change project.Change
	sums   map[string][]byte
	wholes map[string]bool
	fresh  []*node // modules whose package is new in its place
}

// plan derives the lock, the manifest and the moves from the finished tree.
func (r *run) plan(ctx context.Context, nodes []*node) (*plan, error) {
	p := &plan{
		result: &Result{
			Dialect:        r.dialect,
			DialectMatters: r.dialectMatters(),
			LockFile:       filepath.Join(r.req.dir(), r.req.lockFile()),
		},
		change: project.Change{OldLock: r.lockSrc, Packages: make(map[string]string)},
		sums:   make(map[string][]byte),
		wholes: make(map[string]bool),
	}
	var recorded manifest.Manifest
	inLock := make(map[string]bool)
	for _, n := range nodes {
		m := n.module()
		p.result.Modules = append(p.result.Modules, m)
		recorded.Set(n.record(m.Version))
		if !n.ownsPackage() {
			continue
		}
		inLock[n.pkg.key] = true
		p.result.LockChanges = append(p.result.LockChanges, r.updateLock(ctx, n)...)
		if n.pkg.staged != "" {
			p.change.Packages[n.pkg.key] = n.pkg.staged
			p.fresh = append(p.fresh, n)
		}
		p.wholes[n.pkg.whole] = true
		if err := p.keepSums(n.pkg.tree); err != nil {
			return nil, err
		}
	}
	for _, key := range r.req.UpgradeKeys {
		if !inLock[key] {
			return nil, fmt.Errorf("%q: %w", key, ErrNoSuchCall)
		}
	}
	p.result.LockChanges = append(p.result.LockChanges, r.dropFromLock(inLock)...)
	slices.SortFunc(p.result.LockChanges, func(a, b LockChange) int { return compareKeys(a.Key, b.Key) })
	p.change.Gone = r.gone(inLock)
	p.change.Trees = r.newTrees(p.wholes)
	p.change.Manifest = recorded.Bytes()
	p.change.NewLock = r.lockSrc
	if len(p.result.LockChanges) > 0 || r.restored.any() {
		if err := r.lock.Check(); err != nil {
			return nil, err
		}
		if p.result.DialectMatters {
			r.lock.NameTool(r.dialect.String())
		}
		p.change.NewLock = r.lock.Bytes()
	}
	return p, r.refuseChanges(p.result.LockChanges)
}

// keepSums notes the sums of a package, once.
func (p *plan) keepSums(tree *packageTree) error {
	name := pkgcache.FileName(tree.T1())
	if _, ok := p.sums[name]; ok {
		return nil
	}
	text, err := tree.MarshalText()
	p.sums[name] = text
	return err
}

// updateLock puts a module's entry into the lock and says what that changed.
func (r *run) updateLock(ctx context.Context, n *node) []LockChange {
	entry := n.pkg.entry
	old, had := r.lock.Module(entry.Key)
	if lost, ok := r.restored.entry(entry.Key); !had && ok {
		old, had = lost, true
		r.lock.SetModule(lost)
	}
	if had && old.Equal(entry) {
		return nil
	}
	r.lock.SetModule(entry)
	change := LockChange{Key: entry.Key, New: versionOrPackage(entry)}
	if had {
		change.Old = versionOrPackage(old)
		if changed := contentChange(n, old, entry); changed != nil {
			change.OtherContent = changed.Change()
		}
		r.describeChange(ctx, n, old, &change)
	}
	return []LockChange{change}
}

// dropFromLock removes the entries of calls that are gone, as stock tools do
// for providers.
func (r *run) dropFromLock(keep map[string]bool) []LockChange {
	var changes []LockChange
	for _, entry := range r.lock.Modules() {
		if !keep[entry.Key] {
			changes = append(changes, LockChange{Key: entry.Key, Old: versionOrPackage(entry)})
			r.lock.RemoveModule(entry.Key)
		}
	}
	return changes
}

// gone are the directories of calls that the former manifest has and this run
// does not. Nothing else is ever removed.
func (r *run) gone(keep map[string]bool) []string {
	var keys []string
	for _, record := range r.recorded.Records() {
		dir := r.req.installDir(record.Key)
		if validKey(record.Key) && !keep[record.Key] && within(record.Dir, dir) {
			keys = append(keys, record.Key)
		}
	}
	return keys
}

// commit makes the change and tells about it.
func (r *run) commit(p *plan) error {
	r.installed.stopReading()
	if err := r.work.Commit(p.change); err != nil {
		return err
	}
	// Without sums verify cannot name files; they are saved by the next run then.
	// What is no longer needed does no harm.
	keep := make(map[string]bool)
	for name, text := range p.sums {
		keep[name] = true
		_ = r.work.SaveSums(name, text)
	}
	_ = r.work.KeepSums(keep)
	_ = r.work.KeepTrees(p.wholes)
	for _, n := range p.fresh {
		r.events.emit(ModuleInstalled{Path: n.path, Dir: n.dir})
	}
	if !bytes.Equal(p.change.OldLock, p.change.NewLock) {
		r.events.emit(LockFileWritten{File: r.req.lockFile(), Created: r.lockSrc == nil})
	}
	return nil
}

// module is the node as results show it.
func (n *node) module() Module {
	m := Module{Path: n.path, Call: n.call, Source: n.source, Dir: n.dir}
	if n.ownsPackage() {
		m.Version = n.pkg.entry.Version
		m.Package = n.pkg.entry.Package
		m.Hashes = n.pkg.entry.Hashes
	}
	return m
}

// record is the node in modules.json, where only a registry's packages have
// versions.
func (n *node) record(version string) manifest.Record {
	if _, ok := n.source.(addrs.ModuleSourceRegistry); !ok {
		version = ""
	}
	return manifest.Record{Key: n.path.String(), Source: n.source.String(), Version: version, Dir: n.dir}
}

// ownsPackage reports whether the package was placed for this very call.
func (n *node) ownsPackage() bool { return n.pkg != nil && n.pkg.key == n.path.String() }

func versionOrPackage(entry lockfile.Module) string {
	if entry.Version != "" {
		return entry.Version
	}
	return entry.Package
}
