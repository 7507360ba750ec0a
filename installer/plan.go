package installer

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/lockentry"
	"github.com/cotterpin/cotter/lockfile"
)

// plan is the complete and verified change that a run is about to make.
type plan struct {
	*openProject
	events *events
	trust  *trust
	tree   resolvedTree
	// stagings is what was staged for calls, by key.
	stagings map[string]staging
	// providers is nil if the run does not touch providers.
	providers  *providerPlan
	mismatches *mismatches

	result *Result
	change project.Change
	// sums has the sums of all packages by file name, and trees the names of the shared trees that calls need.
	sums  map[string][]byte
	trees map[string]bool
	// inLock has the keys of the calls that have an entry.
	inLock map[string]bool
	// fresh has the modules whose package is added or replaced.
	fresh []*module
	// keepsAll says that the project may need other sums and trees, because not all modules could be read.
	keepsAll bool
}

// make derives the lock, the manifest and the moves from the resolved tree.
func (p *plan) make(ctx context.Context) error {
	p.result = p.newResult(p.tree.modules)
	p.change = project.Change{OldLock: p.LockSrc, NewLock: p.LockSrc, Packages: make(map[string]string), Trees: make(map[string]string)}
	p.sums, p.trees, p.inLock = make(map[string][]byte), make(map[string]bool), make(map[string]bool)
	p.result.DialectMatters = p.dialectGiven || !p.Detected.IsGuess() || p.tree.hostless != nil
	var recorded project.Manifest
	stays := make(map[string]bool)
	for _, m := range p.tree.modules {
		recorded.Set(m.Record(m.Version()))
		if _, ok := m.LockEntry(); ok {
			p.inLock[m.Key()] = true
		}
		if err := p.checkInside(m); err != nil {
			p.result.Outside = append(p.result.Outside, m.Call.Fail(err))
		}
		if m.LinksTo != "" {
			stays[m.Key()] = true
			if err := p.addLink(m); err != nil {
				return err
			}
		}
		if !m.OwnsPackage() {
			continue
		}
		stays[m.Package.Key] = true
		p.addPackage(m)
		if placed(m).refetched > 0 {
			p.result.Refetched = append(p.result.Refetched, Refetched{Package: m.Package.Entry.Package.String(), Bytes: placed(m).refetched})
		}
		if err := p.keepSums(placed(m).tree); err != nil {
			return err
		}
	}
	for _, path := range p.req.Update.named() {
		key := path.String()
		if !p.inLock[key] && !p.req.several && !slices.ContainsFunc(p.tree.modules, func(m *module) bool { return m.Key() == key && m.Call.Unlocked && m.OwnsPackage() }) {
			return fmt.Errorf("%q: %w", key, ErrNoSuchCall)
		}
	}
	p.change.Gone = p.gone(stays)
	for _, record := range p.Recorded.Records() {
		if _, seen := recorded.Lookup(record.Key); !seen && record.Key != "" && p.tree.mayHave(record.Key) {
			recorded.Set(record)
		}
	}
	p.keepsAll = p.tree.isPart || len(p.tree.failures.Errs()) > 0
	p.change.Manifest = recorded.Bytes()
	p.change.Confirmed, p.change.Marks = p.trust.recordsOf(p.tree.modules), make(map[string]string)
	for _, entry := range p.tree.replaced {
		if entry != nil { // it may count again
			p.trust.keepRecords(p.change.Confirmed, *entry)
		}
	}
	for _, m := range p.tree.modules {
		if m.OwnsPackage() && m.Call.Mark != "" {
			p.change.Marks[m.Key()] = m.Call.Mark
		}
	}
	for _, entry := range p.Lock.Modules() {
		if !p.inLock[entry.Key] && p.tree.mayHave(entry.Key) {
			p.trust.keepRecords(p.change.Confirmed, entry)
			if mark := p.trust.addresses.mark(entry.Key); mark != "" {
				p.change.Marks[entry.Key] = mark
			}
		}
	}
	if err := p.planLock(ctx); err != nil {
		return err
	}
	p.planUpdates()
	return p.refuseChanges()
}

func (p *plan) addLink(m *module) error {
	if !p.req.installs() {
		return nil
	}
	staged, err := p.files.StageLink(m.Key(), m.LinksTo)
	if err != nil {
		return m.Call.Fail(fmt.Errorf("cannot link to the directory: %w", err))
	}
	if staged != "" {
		p.change.Packages[m.Key()] = staged
		p.fresh = append(p.fresh, m)
	}
	return nil
}

func (p *plan) addPackage(m *module) {
	shared := placed(m).shared
	if staged, ok := p.stagings[m.Package.Key]; ok {
		p.change.Packages[m.Package.Key] = staged.path
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

func (p *plan) keepSums(tree *store.Tree) error {
	name := store.FileName(tree.T1())
	if _, ok := p.sums[name]; ok {
		return nil
	}
	text, err := tree.MarshalText()
	p.sums[name] = text
	return err
}

// planLock plans the new lock, with entries for the calls in inLock and those that the tree may have.
func (p *plan) planLock(ctx context.Context) error {
	if p.req.NoLock {
		p.providers.describe(p.result)
		return nil
	}
	lock := p.Lock.Clone()
	for _, m := range p.tree.modules {
		entry, ok := m.LockEntry()
		if !ok {
			continue
		}
		old, had := p.Lock.Module(entry.Key)
		if !had {
			old, had = p.Lock.Directory(entry.Key)
		}
		if !had {
			old, had = p.tree.restored[entry.Key]
		}
		entry.Replaced = p.tree.replaced[entry.Key]
		if had && p.req.Locked && lacksArguments(old, entry) {
			entry = old
		}
		lock.SetModule(entry)
		if !had || !old.Equal(entry) {
			p.result.LockChanges = append(p.result.LockChanges, p.lockChange(ctx, m, entry, old, had))
		}
	}
	// Drop the entries of calls that no longer exist, as stock tools do for providers.
	for _, entry := range slices.Concat(p.Lock.Modules(), p.Lock.Directories()) {
		if !p.inLock[entry.Key] && !p.tree.mayHave(entry.Key) {
			lock.RemoveModule(entry.Key)
			p.result.LockChanges = append(p.result.LockChanges, LockChange{Path: pathOf(entry.Key), Old: entry})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.tree.restored)) {
		p.result.Restored = append(p.result.Restored, pathOf(key))
	}
	slices.SortFunc(p.result.LockChanges, func(a, b LockChange) int { return strings.Compare(a.Path.String(), b.Path.String()) })
	p.providers.describe(p.result)
	if len(p.result.LockChanges) == 0 && len(p.tree.restored) == 0 && !p.merge.done && !p.providers.changesLockOfModules() {
		return nil
	}
	if p.providers.changesLockOfModules() {
		p.providers.WriteTo(lock)
	}
	lock.SetHeader(p.req.LockHeader)
	if p.tree.earlier != nil {
		lock.RestoreHeader(p.tree.earlier)
	}
	if err := lock.Check(); err != nil {
		return err
	}
	if p.result.DialectMatters {
		lock.NameTool(p.Dialect.String())
	}
	p.merge.warn(p.events, p.req.lockFile(), lock)
	p.change.NewLock = lock.Bytes()
	if p.req.LockContent != nil {
		p.result.LockContent = p.change.NewLock
	}
	return nil
}

func (p *plan) lockChange(ctx context.Context, m *module, entry, old lockfile.Module, had bool) LockChange {
	change := LockChange{Path: m.Path(), Old: old, New: entry}
	if m.Call.IsDirectory() {
		return change
	}
	change.Selection, change.Newer = placed(m).selected.why, placed(m).selected.newer
	if !had {
		return change
	}
	if excludes(m.Call, old) {
		change.ExcludedBy = asCaller(m.Call)
	}
	if changed := contentChange(m.Call, old, entry); changed != nil && !p.trust.addresses.isOther(m.Call, old) {
		change.OtherContent = changed.Error()
	}
	change.Files = p.fileChanges(m, old)
	change.Interface = p.interfaceChanges(ctx, m)
	return change
}

// fileChanges returns how the files of a package differ from those of its old entry, if they are known.
func (p *plan) fileChanges(m *module, old lockfile.Module) hashing.Changes {
	before := p.dirs.LockedTree(old)
	if before == nil {
		return hashing.Changes{}
	}
	return hashing.Diff(before.Tree, placed(m).tree.Tree)
}

// interfaceChanges returns what has changed for the caller, if the old package is still installed.
func (p *plan) interfaceChanges(ctx context.Context, m *module) []config.InterfaceChange {
	record, ok := p.Recorded.Lookup(m.Key())
	if !ok || filepath.IsAbs(record.Dir) {
		return nil
	}
	dir := path.Clean(record.Dir)
	files, top := p.dirs.Recorded(m.Key(), dir)
	before, err := p.reader().ReadInterface(ctx, configread.Dir{
		Path: p.dirs.Path(dir), Files: files, Subdir: path.Clean("." + strings.TrimPrefix(dir, top)),
	})
	if err != nil {
		return nil // it is not installed
	}
	after, err := p.reader().ReadInterface(ctx, configDir(m))
	if err != nil {
		return nil // errors of the configuration were reported when its calls were read
	}
	changes := before.Diff(after)
	calls, err := p.reader().ReadArguments(ctx, configDir(m.Call.Caller))
	if call, ok := calls[m.Call.Name]; ok && err == nil && len(m.Call.Prefix) == 0 {
		return configread.ForCall(changes, call)
	}
	return configread.BreakingFirst(changes)
}

// planUpdates adds the packages that differ from those of the last installation although this run does not
// change their entries.
func (p *plan) planUpdates() {
	if p.req.LockOnly {
		return
	}
	changed, fresh := make(map[string]bool), make(map[*module]bool)
	for _, change := range p.result.LockChanges {
		changed[change.Path.String()] = true
	}
	for _, m := range p.fresh {
		fresh[m] = true
	}
	for _, m := range p.tree.modules {
		if !m.OwnsPackage() {
			continue
		}
		entry := m.Package.Entry
		old, ok := p.former.Module(entry.Key)
		if ok && !changed[entry.Key] && (!fresh[m] || p.mismatches.isExplained(entry.Key)) && len(lockentry.Differences(old, entry)) > 0 {
			p.result.Updates = append(p.result.Updates, LockChange{Path: m.Path(), Old: old, New: entry})
		}
	}
	for _, old := range p.former.Modules() {
		if _, locked := p.Lock.Module(old.Key); !locked && !p.inLock[old.Key] {
			p.result.Updates = append(p.result.Updates, LockChange{Path: pathOf(old.Key), Old: old})
		}
	}
	slices.SortFunc(p.result.Updates, func(a, b LockChange) int { return strings.Compare(a.Path.String(), b.Path.String()) })
}

// gone returns the keys of calls in the former manifest whose directories do not stay, because the tree does not
// have them. Nothing else is ever removed.
func (p *plan) gone(stays map[string]bool) []string {
	var keys []string
	for _, record := range p.Recorded.Records() {
		if isKey(record.Key) && !p.tree.mayHave(record.Key) && !stays[record.Key] && pathsafe.Within(record.Dir, p.dirs.PackageDir(record.Key)) {
			keys = append(keys, record.Key)
		}
	}
	return keys
}

// refuseChanges returns an error if a run would change the lock that must not.
func (p *plan) refuseChanges() error {
	if !p.req.Locked {
		return nil
	}
	var reasons []LockedReason
	for _, change := range p.result.LockChanges {
		reason := "the lock's entry does not match this configuration"
		if change.New.Key == "" {
			reason = whyGone(change.Path, p.tree.modules, false)
		}
		reasons = append(reasons, LockedReason{Path: change.Path, Reason: reason})
	}
	return lockedError(p.req.lockFile(), reasons)
}

func (p *plan) commit(ctx context.Context) error {
	if err := p.providers.install(ctx, p.result); err != nil {
		return err
	}
	if err := p.commitModules(ctx); err != nil {
		return err
	}
	return p.providers.writeOwnLock(ctx)
}

func (p *plan) commitModules(ctx context.Context) error {
	p.dirs.StopReading()
	changesLock := !bytes.Equal(p.change.OldLock, p.change.NewLock)
	reportLock := func() {}
	if changesLock && !p.req.DryRun && p.req.hasLockFile() {
		reportLock = lockWritten(ctx, p.req.Project, p.events, p.LockSrc == nil)
	}
	outcome := wouldReplace
	switch {
	case p.req.DryRun:
	case p.req.placesModules():
		if err := p.move(); err != nil {
			return err
		}
		outcome = areReplaced
	case changesLock:
		if err := project.WriteLock(p.req.location(), p.change.OldLock, p.change.NewLock); err != nil {
			return err
		}
	}
	modules := append([]*module{}, p.tree.modules...) // known, so not nil, even if there are none
	p.mismatches.warn(p.events, outcome, modules)
	reportLock()
	return nil
}

func (p *plan) move() error {
	replaced := make([]bool, len(p.fresh))
	for i, m := range p.fresh {
		replaced[i] = exists(filepath.Join(p.req.dir(), filepath.FromSlash(m.FinalPath)))
	}
	if err := p.files.Commit(p.change); err != nil {
		return err
	}
	p.keepState()
	for i, m := range p.fresh {
		p.events.emit(event.ModuleInstalled{Path: m.Path(), Dir: m.FinalPath, Replaced: replaced[i]})
	}
	return nil
}

// keepState saves the sums of the installed packages, and removes unneeded sums and shared trees. Without sums,
// Verify cannot name the files that differ; the next run saves them.
func (p *plan) keepState() {
	keep := make(map[string]bool)
	for name, text := range p.sums {
		keep[name] = true
		_ = p.files.SaveSums(name, text)
	}
	if p.keepsAll {
		return
	}
	_ = p.files.KeepSums(keep)
	_ = p.files.KeepTrees(p.trees)
}
