package installer

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/packagedir"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
)

// plan is the complete and verified change that a run is about to make.
type plan struct {
	result *Result
	change project.Change
	// sums has the sums of all packages by file name. trees has the names of the shared
	// trees that calls need.
	sums  map[string][]byte
	trees map[string]bool
	// fresh has the modules whose package is added or replaced.
	fresh []*module
	// keepsAll says that the project may need other sums and trees, because not all modules
	// could be read.
	keepsAll bool
	// providers is nil if the run does not touch providers.
	providers *providerPlan
	// mismatches are the installed packages that did not match the lock, and modules are all
	// modules of the tree.
	mismatches *mismatches
	modules    []*module

	project *openProject
	events  *events
}

// planner plans the change of a project.
type planner struct {
	*openProject
	events   *events
	run      *trust
	vendored *packagedir.VendorStage
	// providers is nil if the run does not touch providers.
	providers *providerPlan
	// mismatches are the installed packages that do not match the lock.
	mismatches *mismatches
}

// plan derives the lock, the manifest and the moves from the resolved tree.
func (r *planner) plan(ctx context.Context, tree resolvedTree, stagings map[string]staging) (*plan, error) {
	p := &plan{
		result: r.newResult(tree.modules),
		change: project.Change{OldLock: r.lockSrc, NewLock: r.lockSrc, Packages: make(map[string]string), Trees: make(map[string]string)},
		sums:   make(map[string][]byte),
		trees:  make(map[string]bool),

		providers: r.providers, mismatches: r.mismatches, modules: append([]*module{}, tree.modules...), project: r.openProject, events: r.events,
	}
	p.result.DialectMatters = r.dialectGiven || !r.detected.IsGuess() || tree.hostless != nil
	var recorded project.Manifest
	inLock, hasPackage, stays := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for _, m := range tree.modules {
		recorded.Set(m.record(m.version()))
		if _, ok := m.lockEntry(); ok {
			inLock[m.key()] = true
		}
		if m.linksTo != "" {
			stays[m.key()] = true
			if err := p.addLink(m); err != nil {
				return nil, err
			}
		}
		if !m.ownsPackage() {
			continue
		}
		hasPackage[m.pkg.key] = true
		p.addPackage(m, stagings)
		if m.pkg.refetched > 0 {
			p.result.Refetched = append(p.result.Refetched, Refetched{Package: m.pkg.entry.Package.String(), Bytes: m.pkg.refetched})
		}
		if err := p.keepSums(m.pkg.tree); err != nil {
			return nil, err
		}
	}
	for _, path := range r.req.Update.named() {
		key := path.String()
		if !inLock[key] && !r.req.several {
			return nil, fmt.Errorf("%q: %w", key, ErrNoSuchCall)
		}
	}
	if r.dirs.Vendor == nil {
		maps.Copy(stays, hasPackage)
	}
	p.change.Gone = r.gone(tree, stays)
	for _, record := range r.recorded.Records() {
		if _, seen := recorded.Lookup(record.Key); !seen && record.Key != "" && tree.mayHave(record.Key) {
			recorded.Set(record)
		}
	}
	p.keepsAll = tree.isPart || len(tree.failures.errs()) > 0
	if err := p.planVendor(r, hasPackage); err != nil {
		return nil, err
	}
	p.change.Manifest = recorded.Bytes()
	p.change.Confirmed = r.run.recordsOf(tree.modules)
	for _, entry := range r.lock.Modules() {
		if !inLock[entry.Key] && tree.mayHave(entry.Key) {
			r.run.keepRecords(p.change.Confirmed, entry)
		}
	}
	if err := r.planLock(ctx, p, tree, inLock); err != nil {
		return nil, err
	}
	r.planUpdates(p, tree, inLock)
	return p, r.refuseChanges(p.result.LockChanges, tree.modules)
}

// addLink plans the link that becomes the directory of a module's call.
func (p *plan) addLink(m *module) error {
	if !p.project.req.installs() {
		return nil
	}
	staged, err := p.project.files.StageLink(m.key(), m.linksTo)
	if err != nil {
		return m.call.fail(fmt.Errorf("cannot link to the directory: %w", err))
	}
	if staged != "" {
		p.change.Packages[m.key()] = staged
		p.fresh = append(p.fresh, m)
	}
	return nil
}

func (p *plan) addPackage(m *module, stagings map[string]staging) {
	shared := m.pkg.shared
	if staged, ok := stagings[m.pkg.key]; ok {
		p.change.Packages[m.pkg.key] = staged.path
		p.fresh = append(p.fresh, m)
		shared = staged.shared
	}
	if shared == nil {
		return
	}
	p.trees[shared.Name] = true
	if shared.Staged {
		p.change.Trees[shared.Name] = shared.Path
	}
}

// keepSums records the sums of a package once.
func (p *plan) keepSums(tree *store.Tree) error {
	name := store.FileName(tree.T1())
	if _, ok := p.sums[name]; ok {
		return nil
	}
	text, err := tree.MarshalText()
	p.sums[name] = text
	return err
}

// planVendor plans the change of the vendored packages. A run that must not change the lock only
// compares them.
func (p *plan) planVendor(r *planner, hasPackage map[string]bool) (err error) {
	if r.vendored == nil || r.req.Locked {
		return nil
	}
	var changes []packagedir.PackageChange
	if p.change.Vendor, changes, err = r.vendored.Plan(slices.Sorted(maps.Keys(hasPackage)), p.sums); err != nil {
		return err
	}
	for _, c := range changes {
		p.result.Vendored = append(p.result.Vendored, VendorChange{Path: pathOf(c.Key), Dir: c.Dir, Kind: string(c.Kind)})
	}
	return nil
}

// planLock plans the new lock, which has entries for the calls in inLock. It adds the
// differences from the old lock to the result.
func (r *planner) planLock(ctx context.Context, p *plan, tree resolvedTree, inLock map[string]bool) error {
	if r.req.NoLock {
		r.providers.describe(p.result)
		return nil
	}
	lock := r.lock.Clone()
	for _, m := range tree.modules {
		entry, ok := m.lockEntry()
		if !ok {
			continue
		}
		old, had := r.lock.Module(entry.Key)
		if !had {
			old, had = r.lock.Directory(entry.Key)
		}
		if !had {
			old, had = tree.restored[entry.Key]
		}
		lock.SetModule(entry)
		if !had || !old.Equal(entry) {
			p.result.LockChanges = append(p.result.LockChanges, r.lockChange(ctx, m, old, had))
		}
	}
	// Drop the entries of calls that no longer exist, as stock tools do for providers.
	for _, entry := range slices.Concat(r.lock.Modules(), r.lock.Directories()) {
		if !inLock[entry.Key] && !tree.mayHave(entry.Key) {
			lock.RemoveModule(entry.Key)
			p.result.LockChanges = append(p.result.LockChanges, LockChange{Path: pathOf(entry.Key), Old: entry})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(tree.restored)) {
		p.result.Restored = append(p.result.Restored, pathOf(key))
	}
	slices.SortFunc(p.result.LockChanges, func(a, b LockChange) int { return strings.Compare(a.Path.String(), b.Path.String()) })
	r.providers.describe(p.result)
	if len(p.result.LockChanges) == 0 && len(tree.restored) == 0 && !r.merge.done && !r.providers.changesLockOfModules() {
		return nil
	}
	if r.providers.changesLockOfModules() {
		r.providers.WriteTo(lock)
	}
	lock.SetHeader(r.req.LockHeader)
	if tree.earlier != nil {
		lock.RestoreHeader(tree.earlier)
	}
	if err := lock.Check(); err != nil {
		return err
	}
	if p.result.DialectMatters {
		lock.NameTool(r.dialect.String())
	}
	r.merge.warn(r.events, r.req.lockFile(), lock)
	p.change.NewLock = lock.Bytes()
	if r.req.LockContent != nil {
		p.result.LockContent = p.change.NewLock
	}
	return nil
}

// lockChange describes how a module's entry was added or changed.
func (r *planner) lockChange(ctx context.Context, m *module, old lockfile.Module, had bool) LockChange {
	entry, _ := m.lockEntry()
	change := LockChange{Path: m.path(), Old: old, New: entry}
	if m.call.isDirectory() {
		return change
	}
	change.Selection, change.Newer = m.pkg.selected.why, m.pkg.selected.newer
	if !had {
		return change
	}
	if m.call.excludes(old) {
		change.ExcludedBy = m.call.asCaller()
	}
	if changed := contentChange(m.call, old, entry); changed != nil {
		change.OtherContent = changed.Error()
	}
	change.Files = r.fileChanges(m, old)
	change.Interface = r.interfaceChanges(ctx, m)
	return change
}

// fileChanges returns the differences between the files of a module's package and those of
// its old entry; empty if the old package is not known.
func (r *planner) fileChanges(m *module, old lockfile.Module) hashing.Changes {
	before := r.dirs.LockedTree(old)
	if before == nil {
		return hashing.Changes{}
	}
	return hashing.Diff(before.Tree, m.pkg.tree.Tree)
}

// interfaceChanges returns what has changed for a module's caller, if the old package is
// still installed.
func (r *planner) interfaceChanges(ctx context.Context, m *module) []config.InterfaceChange {
	record, ok := r.recorded.Lookup(m.key())
	if !ok || filepath.IsAbs(record.Dir) {
		return nil
	}
	before, err := r.reader().ReadInterface(ctx, configs.Dir{
		Path:     r.dirs.Path(record.Dir),
		Boundary: r.dirs.Boundary(record.Dir),
	})
	if err != nil {
		return nil // it is not installed
	}
	after, err := r.reader().ReadInterface(ctx, m.configDir())
	if err != nil {
		return nil // errors of the configuration were reported when its calls were read
	}
	changes := before.Diff(after)
	calls, err := r.reader().ReadArguments(ctx, m.call.caller.configDir())
	if call, ok := calls[m.call.Name]; ok && err == nil && len(m.call.Prefix) == 0 {
		return publicChanges(configs.ForCall(changes, call))
	}
	return publicChanges(configs.BreakingFirst(changes))
}

// planUpdates adds to the result the packages that differ from those of the last
// installation, except for those whose entries this run changes.
func (r *planner) planUpdates(p *plan, tree resolvedTree, inLock map[string]bool) {
	if r.req.LockOnly {
		return
	}
	changed, fresh := make(map[string]bool), make(map[*module]bool)
	for _, change := range p.result.LockChanges {
		changed[change.Path.String()] = true
	}
	for _, m := range p.fresh {
		fresh[m] = true
	}
	for _, m := range tree.modules {
		if !m.ownsPackage() {
			continue
		}
		entry := m.pkg.entry
		old, ok := r.former.Module(entry.Key)
		if ok && !changed[entry.Key] && (!fresh[m] || r.mismatches.isExplained(entry.Key)) && isOtherPackage(old, entry) {
			p.result.Updates = append(p.result.Updates, LockChange{Path: m.path(), Old: old, New: entry})
		}
	}
	for _, old := range r.former.Modules() {
		if _, locked := r.lock.Module(old.Key); !locked && !inLock[old.Key] {
			p.result.Updates = append(p.result.Updates, LockChange{Path: pathOf(old.Key), Old: old})
		}
	}
	slices.SortFunc(p.result.Updates, func(a, b LockChange) int { return strings.Compare(a.Path.String(), b.Path.String()) })
}

// gone returns the keys of calls in the former manifest whose directories do not stay: the tree does
// not have them, or has vendored them. Their directories are removed; nothing else ever is.
func (r *planner) gone(tree resolvedTree, stays map[string]bool) []string {
	var keys []string
	for _, record := range r.recorded.Records() {
		if isKey(record.Key) && !tree.mayHave(record.Key) && !stays[record.Key] && pathsafe.Within(record.Dir, r.dirs.DataDir(record.Key)) {
			keys = append(keys, record.Key)
		}
	}
	return keys
}

// refuseChanges returns an error if the finished plan would change the lock, in a run that
// must not change it.
func (r *planner) refuseChanges(changes []LockChange, modules []*module) error {
	if !r.req.Locked {
		return nil
	}
	var reasons []LockedReason
	for _, change := range changes {
		reason := "the lock's entry does not match this configuration"
		if change.New.Key == "" {
			reason = whyGone(change.Path, modules)
		}
		reasons = append(reasons, LockedReason{Path: change.Path, Reason: reason})
	}
	return lockedError(r.req.lockFile(), reasons)
}

// commit places the providers, changes the project, and emits events about it.
func (p *plan) commit(ctx context.Context) error {
	if err := p.providers.install(ctx, p.result); err != nil {
		return err
	}
	if err := p.commitModules(); err != nil {
		return err
	}
	return p.providers.writeOwnLock()
}

// commitModules moves the packages of modules to their places, and writes the lock.
func (p *plan) commitModules() error {
	at := p.project
	at.installed.StopReading()
	changesLock := !bytes.Equal(p.change.OldLock, p.change.NewLock)
	outcome := wouldReplace
	switch {
	case at.req.DryRun:
	case at.req.placesModules():
		if err := p.move(); err != nil {
			return err
		}
		outcome = areReplaced
	case changesLock:
		if err := project.WriteLock(at.req.location(), p.change.OldLock, p.change.NewLock); err != nil {
			return err
		}
	}
	p.mismatches.warn(p.events, outcome, p.modules)
	if changesLock && !at.req.DryRun && at.req.hasLockFile() {
		p.events.emit(event.LockFileWritten{File: at.req.lockFile(), Created: at.lockSrc == nil})
	}
	return nil
}

// move commits the changes of the package directories.
func (p *plan) move() error {
	replaced := make([]bool, len(p.fresh))
	for i, m := range p.fresh {
		replaced[i] = exists(filepath.Join(p.project.req.dir(), filepath.FromSlash(m.finalPath)))
	}
	if err := p.project.files.Commit(p.change); err != nil {
		return err
	}
	p.keepState(p.project.files)
	for i, m := range p.fresh {
		p.events.emit(event.ModuleInstalled{Path: m.path(), Dir: m.finalPath, Replaced: replaced[i]})
	}
	return nil
}

// keepState saves the sums of the installed packages, and removes sums and shared trees
// that are no longer needed. Without sums, Verify cannot name the files that differ; if
// they cannot be saved, the next run saves them.
func (p *plan) keepState(files *project.Project) {
	keep := make(map[string]bool)
	for name, text := range p.sums {
		keep[name] = true
		_ = files.SaveSums(name, text)
	}
	if p.keepsAll {
		return
	}
	_ = files.KeepSums(keep)
	_ = files.KeepTrees(p.trees)
}
