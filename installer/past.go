package installer

import (
	"cmp"
	"context"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/git/worktree"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// past is what a project has used before a run. A call without an entry takes from it what it can, so that a
// renamed call, a second call of a source and the first lock upgrade nothing. Blocks of the lock in the format of the
// later draft of the proposal are part of it. All of it is a hint: packages are confirmed and policies applied as
// usual.
//
// Updated calls, and those below them, take nothing from it. Neither do calls with an entry of their source
// that they no longer allow: the selected version must not depend on what this machine had. A nil *past is
// empty.
type past struct {
	update Update
	lock   *lockfile.File
	lost   *lostEntries
	// installed has the records of what a stock tool has installed, and clones are its directories; empty and
	// nil if that does not count.
	installed *project.Manifest
	clones    *project.Project
	addresses addresses
	parser    addrs.Parser
}

// past returns nothing that was installed if the user has deleted the lock file to get a new one.
func (p *openProject) past(lost *lostEntries) *past {
	past := &past{update: p.req.Update, lock: p.Lock, lost: lost, installed: &project.Manifest{}, addresses: p.addresses(), parser: p.Dialect.Parser()}
	if p.files != nil && !p.isLockDeleted() {
		past.installed, past.clones = p.Recorded, p.files
	}
	return past
}

func (p *openProject) isLockDeleted() bool {
	return p.req.hasLockFile() && p.LockSrc == nil && p.files.HasLockCopy()
}

// locks returns the lock and the earlier lock that has lost entries. An entry counts if no lock before its own
// has one that fits.
func (p *past) locks(ctx context.Context) []*lockfile.File {
	if earlier := p.lost.earlierLock(ctx); earlier != nil {
		return []*lockfile.File{p.lock, earlier}
	}
	return []*lockfile.File{p.lock}
}

// entry returns the entry that decides calls of one source: the highest version that allows accepts, or the
// first entry by key if the source has no versions. For a single call, its own entry comes first: that in an
// earlier lock, or that from before its source was replaced.
func (p *past) entry(ctx context.Context, calls []*call, allows func(versions.Version) bool) (best lockfile.Module, found bool) {
	if p == nil {
		return best, false
	}
	if own, ok := p.ownEntry(ctx, calls, allows); ok {
		return own, true
	}
	for _, lock := range p.locks(ctx) {
		var highest versions.Version
		for _, entry := range entriesIn(lock) {
			if !slices.ContainsFunc(calls, func(c *call) bool { return p.decides(entry, c) }) {
				continue
			}
			v := entry.Version
			switch {
			case v.IsZero() && !found:
				best, found = entry, true
			case v.IsZero() || !allows(v):
			case !found || v.Compare(highest) > 0:
				best, highest, found = entry, v, true
			}
		}
		if found {
			break
		}
	}
	return best, found
}

func (p *past) ownEntry(ctx context.Context, calls []*call, allows func(versions.Version) bool) (lockfile.Module, bool) {
	if len(calls) != 1 {
		return lockfile.Module{}, false
	}
	for _, lock := range p.locks(ctx) {
		for _, entry := range entriesOf(lock, calls[0].Key()) {
			if p.decides(entry, calls[0]) && (entry.Version.IsZero() || allows(entry.Version)) {
				return entry, true
			}
		}
	}
	return lockfile.Module{}, false
}

// decides reports whether an entry may decide a call, which may be another call than its own.
func (p *past) decides(entry lockfile.Module, c *call) bool {
	if p.update.has(entry.Key) || entry.Key != c.Key() && p.update.covers(c.Path) || p.isExcluded(c) {
		return false
	}
	return c.From.Mismatch(entry) == "" && !p.addresses.isOther(c, entry)
}

// isExcluded reports whether the lock has an entry of a call's source that the call no longer allows.
func (p *past) isExcluded(c *call) bool {
	return slices.ContainsFunc(entriesOf(p.lock, c.Key()), func(entry lockfile.Module) bool {
		return c.From.IsOf(entry) && c.From.Mismatch(entry) != ""
	})
}

// entriesOf returns the entries of a call's source, from the first lock that has any.
func (p *past) entriesOf(ctx context.Context, c *call) []lockfile.Module {
	if p == nil {
		return nil
	}
	var list []lockfile.Module
	for _, lock := range p.locks(ctx) {
		for _, entry := range entriesIn(lock) {
			if c.From.IsOf(entry) {
				list = append(list, entry)
			}
		}
		if list != nil {
			break
		}
	}
	return list
}

func (p *past) record(c *call) (project.ManifestRecord, bool) {
	if p == nil || p.update.covers(c.Path) || p.isExcluded(c) {
		return project.ManifestRecord{}, false
	}
	record, ok := p.installed.Lookup(c.Key())
	return record, ok && !record.IsReplaced()
}

func (p *past) version(c *call) (versions.Version, bool) {
	record, ok := p.record(c)
	if !ok || !c.IsRecordedAs(record, p.parser) {
		return versions.Version{}, false
	}
	v, err := versions.Parse(record.Version)
	return v, err == nil
}

// among returns the offered versions that the project uses for a call that has no entry, and why: those that
// blocks of the lock name for its source, or else the one that a stock tool has installed. The latter may be several
// that are tags of the same commit.
func (p *past) among(c *call, offered []versions.Candidate) ([]versions.Candidate, event.Selection) {
	blocks := p.sourceBlocks(c)
	if list := only(offered, func(candidate versions.Candidate) bool { return hasVersion(blocks, candidate.Version) }); len(list) > 0 {
		return list, event.SelectionSameSource
	}
	v, isVersion := p.version(c)
	commit := p.commit(c)
	return only(offered, func(candidate versions.Candidate) bool {
		return isVersion && candidate.Version == v || commit != "" && candidate.Revision == commit
	}), event.SelectionInstalled
}

func only(offered []versions.Candidate, isIn func(versions.Candidate) bool) []versions.Candidate {
	return slices.DeleteFunc(slices.Clone(offered), func(candidate versions.Candidate) bool { return !isIn(candidate) })
}

// sourceBlocks returns the blocks that the lock has in the format of the later draft for the source of a call, with
// a version that the call allows.
func (p *past) sourceBlocks(c *call) []lockfile.Module {
	if p == nil || p.update.covers(c.Path) || p.isExcluded(c) {
		return nil
	}
	return slices.DeleteFunc(blocksOf(p.lock, c), func(block lockfile.Module) bool { return c.From.Mismatch(block) != "" })
}

// blocksOf returns the blocks of a lock in the format of the later draft for the source of a call. The draft has only
// modules of registries.
func blocksOf(lock *lockfile.File, c *call) []lockfile.Module {
	if _, ok := c.From.Address.(addrs.ModuleSourceRegistry); !ok {
		return nil
	}
	return slices.DeleteFunc(lock.SourceModules(), func(block lockfile.Module) bool { return !c.From.IsOf(block) || block.Version.IsZero() })
}

func hasVersion(blocks []lockfile.Module, v versions.Version) bool {
	return slices.ContainsFunc(blocks, func(block lockfile.Module) bool { return block.Version == v })
}

// commit returns the commit that a stock tool has installed for a call, or "". If several calls have the same
// package, stock tools clone it for one of them only.
func (p *past) commit(c *call) string {
	record, ok := p.record(c)
	if !ok || !c.From.IsRemote() || c.From.Repository.Getter() != "git" {
		return ""
	}
	clone := p.clone(record)
	if !isCloneFor(c, clone) {
		return ""
	}
	records := p.installed.Records()
	slices.SortStableFunc(records, func(a, b project.ManifestRecord) int { return cmp.Compare(order(a, c), order(b, c)) })
	for _, other := range records {
		if p.clone(other) != clone {
			continue
		}
		if commit := p.head(other.Key); commit != "" {
			return commit
		}
	}
	return ""
}

func order(record project.ManifestRecord, c *call) int {
	if record.Key == c.Key() {
		return 0
	}
	return 1
}

// clone returns the address of the git repository in a record, with the ref, or the zero address.
func (p *past) clone(record project.ManifestRecord) addrs.ModulePackage {
	source, err := p.parser.ParseModuleSource(record.Source)
	remote, ok := source.(addrs.ModuleSourceRemote)
	if err != nil || !ok || remote.Package.Getter() != "git" {
		return addrs.ModulePackage{}
	}
	return remote.Package.Unsigned()
}

// isCloneFor reports whether a clone is of the repository and the ref of a call. If the call selects a version,
// the ref does not matter.
func isCloneFor(c *call, clone addrs.ModulePackage) bool {
	wanted := c.From.Address.(addrs.ModuleSourceRemote).Package
	if c.From.HasConstraint {
		wanted, clone = c.From.Repository.Unpinned(), clone.Without("version").Unpinned()
	}
	return wanted.Unsigned() == clone
}

func (p *past) head(key string) string {
	root, err := p.clones.Package(key)
	if err != nil {
		return ""
	}
	defer root.Close()
	commit, err := worktree.HeadCommit(root)
	if err != nil {
		return "" // it is a copy of another call's package, or not from a stock tool
	}
	return commit
}
