package installer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/project/packagedir"
	"github.com/cotterpin/cotter/lockfile"
)

// The lock also changes without Cotter, for example when another branch is checked out. Then the installed
// files are those of the former lock, which a sealed copy in the project proves (see package project).
// Replacing them is an ordinary update. A run warns of files that neither lock explains.

// mismatches are the installed packages of a run that do not match the lock. The zero value is ready for use by
// several goroutines.
type mismatches struct {
	mu    sync.Mutex
	byKey map[string]mismatch
}

type mismatch struct {
	found packagedir.Report
	// explained says that the files are those of the former lock.
	explained bool
	// other says what is installed according to modules.json, if that is not what the lock has.
	other string
}

func (m *mismatches) add(ctx context.Context, p *openProject, entry lockfile.Module, found packagedir.Report) {
	explained, other := false, p.otherInstalled(entry)
	if old, ok := p.former.Module(entry.Key); ok {
		before := p.dirs.Inspect(ctx, old)
		explained = before.Status == packagedir.Verified
		if !explained && found.Changes.Empty() && found.Err == nil {
			found.Changes = before.Changes
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byKey == nil {
		m.byKey = make(map[string]mismatch)
	}
	m.byKey[entry.Key] = mismatch{found: found, explained: explained, other: other}
}

func (m *mismatches) isExplained(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byKey[key].explained
}

// warn warns about each package whose files nothing explains. outcome says what the run does with them. modules
// are all modules of the tree, whose packages show which files differ if nothing else does; nil if they are not
// known.
func (m *mismatches) warn(events *events, outcome string, modules []*module) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for key, one := range m.byKey {
		if !one.explained {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		found := m.byKey[key].found
		i := slices.IndexFunc(modules, func(other *module) bool { return other.OwnsPackage() && other.Package.Key == key })
		if i < 0 && modules != nil {
			continue // no call needs it
		}
		if i >= 0 && found.Changes.Empty() && found.Files != nil && placed(modules[i]).tree != nil {
			found.Changes = hashing.Diff(placed(modules[i]).tree.Tree, found.Files.Tree)
		}
		events.emit(event.UnexpectedFiles{Path: pathOf(key), Files: found.Changes, Replaced: outcome == areReplaced})
		why := difference(found)
		if other := m.byKey[key].other; other != "" {
			why = ": " + other
		}
		events.emit(event.Warning{
			Path: pathOf(key), Kind: event.WarningRestored,
			Message: "its installed files do not match the lock" + outcome + why,
		})
	}
	m.byKey = nil
}

// otherInstalled says that modules.json has another source or version than the lock and the former lock, or
// that a stock tool has cloned another commit; "" if not. That is so whenever a stock tool has installed
// without the lock, and then a list of files tells the user nothing. It is no evidence.
func (p *openProject) otherInstalled(entry lockfile.Module) string {
	record, ok := p.Recorded.Lookup(entry.Key)
	if !ok || p.former == nil && p.files.HasLockCopy() {
		return "" // a run of another user, or in another directory, may have installed the files
	}
	clone := &past{clones: p.files}
	if commit := clone.head(entry.Key); commit != "" && entry.Revision() != "" && commit != entry.Revision() && p.isRecorded(record, entry) {
		return fmt.Sprintf("commit %s is installed, and the lock has %s", commit, entry.Revision())
	}
	old, wasLocked := p.former.Module(entry.Key)
	switch {
	case p.isRecorded(record, entry) || wasLocked && p.isRecorded(record, old):
		return ""
	case record.Version != "" && !entry.Version.IsZero() && record.Version != entry.Version.String():
		return fmt.Sprintf("modules.json has version %s, and the lock has %s", record.Version, entry.Version)
	}
	return fmt.Sprintf("modules.json has %s, and the lock has %s", addrs.Redact(record.Source), addrs.Redact(entry.Source.String()))
}

// isRecorded reports whether a record is that of an entry: with the address that its source replaces, if it does.
func (p *openProject) isRecorded(record project.ManifestRecord, entry lockfile.Module) bool {
	installed, err := p.Dialect.Parser().ParseModuleSource(record.Source)
	if err != nil {
		return true
	}
	written, isReplaced := cmp.Or(entry.Replaces, entry.Source), entry.Replaces != nil
	hasVersion := isReplaced || record.Version == "" || record.Version == entry.Version.String()
	return addrs.IsRecord(written, installed) && record.IsReplaced() == isReplaced && hasVersion
}

const (
	areReplaced   = "; they are replaced"
	wouldReplace  = "; an installation replaces them"
	wereLeftAlone = ", and the run failed before they were replaced"
)

// formerPackage returns the entry of the former lock for a call if its files are exactly what this user's last
// run installed from it.
func (p *openProject) formerPackage(ctx context.Context, key string) (lockfile.Module, bool) {
	old, ok := p.former.Module(key)
	if !ok || p.dirs.Inspect(ctx, old).Status != packagedir.Verified {
		return lockfile.Module{}, false
	}
	return old, true
}

func difference(found packagedir.Report) string {
	if found.Changes.Empty() && found.Err != nil {
		return ": " + found.Err.Error()
	}
	return listed(found.Changes)
}

// listed lists files after a colon; "" if there are none.
func listed(changes hashing.Changes) string {
	if changes.Empty() {
		return ""
	}
	return ": " + strings.Join(listChanges(changes), ", ")
}
