package installer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/git/worktree"
	"github.com/cotterpin/cotter/internal/store/lockentry"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// lockMerge is the merge of a lock in which git has left conflict markers. Of two versions the newer one is
// taken if it fits the configuration, and else the other one. The zero value is no merge.
type lockMerge struct {
	done bool
	// modules and providers are the entries of the blocks that both sides have changed, the newer one first.
	modules   map[string][]lockfile.Module
	providers map[addrs.Provider][]lockfile.Provider
}

// mergeLock merges the conflicted lock of a project with the versions in git's index. If that cannot be done,
// the error is the one for the markers, with the reason if only the user can decide.
func mergeLock(ctx context.Context, req request, src []byte, conflicted *lockfile.SyntaxError) ([]byte, lockMerge, error) {
	sides, ok, err := worktree.ConflictSides(ctx, req.dir(), req.lockFile(), src)
	if err != nil || !ok {
		return nil, lockMerge{}, undecided(conflicted, "Git does not have the two sides any more.") //nolint:nilerr // the user resolves the conflict
	}
	m := lockMerge{done: true, modules: map[string][]lockfile.Module{}, providers: map[addrs.Provider][]lockfile.Provider{}}
	merged, left := lockfile.Merge(sides.Base, sides.Ours, sides.Theirs, m.resolve)
	if len(left) > 0 {
		return nil, lockMerge{}, undecided(conflicted, whyLeft(left))
	}
	return merged, m, nil
}

// resolve decides which side is tried first: the newer version, or the entry that the other side has removed.
// The same version with other content is not decided.
func (m *lockMerge) resolve(c lockfile.Conflict) lockfile.Side {
	switch {
	case c.Type == "module" && (c.OurModule == nil || c.TheirModule == nil):
		return present(c.OurModule != nil)
	case c.Type == "module":
		side := newer(c.OurModule.Version, c.TheirModule.Version)
		switch {
		case side != lockfile.Neither:
		case c.OurModule.Source != c.TheirModule.Source:
			side = lockfile.Ours // only one of them is the call's source now
		case isSameEntry(*c.OurModule, *c.TheirModule):
			side = lockfile.Ours // the newer one of what they replace counts
		}
		m.modules[c.Label] = ordered(side, *c.OurModule, *c.TheirModule)
		return side
	case c.OurProvider != nil && c.TheirProvider != nil:
		side := newer(c.OurProvider.Version, c.TheirProvider.Version)
		m.providers[c.OurProvider.Address] = ordered(side, *c.OurProvider, *c.TheirProvider)
		return side
	case c.OurProvider == nil && c.TheirProvider == nil:
		return lockfile.Neither // they cannot be read
	}
	return present(c.OurProvider != nil)
}

// isSameEntry reports whether two entries differ at most in what they replace.
func isSameEntry(a, b lockfile.Module) bool {
	a.Replaced, b.Replaced = nil, nil
	return a.Equal(b)
}

func present(ours bool) lockfile.Side {
	if ours {
		return lockfile.Ours
	}
	return lockfile.Theirs
}

func newer(ours, theirs versions.Version) lockfile.Side {
	switch {
	case ours.IsZero() || theirs.IsZero() || ours.Compare(theirs) == 0:
		return lockfile.Neither
	case ours.Compare(theirs) > 0:
		return lockfile.Ours
	}
	return lockfile.Theirs
}

func ordered[T any](first lockfile.Side, ours, theirs T) []T {
	if first == lockfile.Theirs {
		return []T{theirs, ours}
	}
	return []T{ours, theirs}
}

func whyLeft(left []lockfile.Conflict) string {
	if left[0].Type == "other" {
		return "Both sides have changed the file outside of its module and provider blocks."
	}
	var names []string
	for _, c := range left {
		names = append(names, strings.TrimSpace(c.Type+" "+c.Label))
	}
	return fmt.Sprintf("Both sides have changed the blocks of %s, and neither has the newer version.", strings.Join(names, ", "))
}

func undecided(conflicted *lockfile.SyntaxError, why string) error {
	diags := slices.Clone(conflicted.Diagnostics)
	first := *diags[0]
	first.Detail, first.Extra = why+" Keep one side of each conflict and remove the marker lines.", lockfile.MergeConflict{Undecided: true}
	diags[0] = &first
	return &lockfile.SyntaxError{File: conflicted.File, Diagnostics: diags}
}

func isConflict(err *lockfile.SyntaxError) bool {
	_, ok := hcl.DiagnosticExtra[lockfile.MergeConflict](err.Diagnostics[0])
	return ok
}

// warn says that the lock was merged, and what was taken for the blocks that both sides have changed.
func (m lockMerge) warn(events *events, lockFile string, lock *lockfile.File) {
	if !m.done {
		return
	}
	list := []event.Warning{{Kind: event.WarningMerged, Message: fmt.Sprintf("%s had a merge conflict, which was resolved with the versions in git's index", lockFile)}}
	const both = "both sides of the merge changed the lock's entry: %s was taken, and not %s"
	for key, entries := range m.modules {
		taken, left := entries[0], entries[1]
		if now, _ := lock.Module(key); isSameEntry(now, left) {
			taken, left = left, taken
		}
		name := lockentry.VersionOrPackage
		if name(taken) == name(left) { // a tag and a branch, for example, of the same commit
			name = func(entry lockfile.Module) string { return addrs.Redact(entry.Source.String()) }
		}
		list = append(list, event.Warning{Path: pathOf(key), Message: fmt.Sprintf(both, name(taken), name(left))})
	}
	for address, entries := range m.providers {
		taken, left := entries[0], entries[1]
		if now, _ := lock.Provider(address); now.Version == left.Version {
			taken, left = left, taken
		}
		list = append(list, event.Warning{Message: fmt.Sprintf("provider %s: "+both, address.ForDisplay(), taken.Version, left.Version)})
	}
	slices.SortFunc(list[1:], func(a, b event.Warning) int {
		return strings.Compare(a.Path.String()+a.Message, b.Path.String()+b.Message)
	})
	for _, warning := range list {
		events.emit(warning)
	}
}
