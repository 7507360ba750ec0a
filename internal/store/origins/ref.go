package origins

import (
	"context"
	"errors"
	"io/fs"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/configuration/callsource"
	"github.com/cotterpin/cotter/lockfile"
)

// RefStatus compares a lock entry's revision with what the ref of its location means now; zero for packages
// without revisions, such as archives.
type RefStatus struct {
	// Name is the ref's name in messages: "tag v1.2.0", "branch main", "HEAD", "commit 7c1f...".
	Name string
	// Now is what the ref means now, or "" if the repository no longer has it.
	Locked, Now string
	// Gone is the error of a missing ref.
	Gone error
	// Fixed says that the ref must not move: a commit or a digest, a full version tag, or the tag of a
	// selected version. Exact says that it cannot: a commit or a digest.
	Fixed, Exact bool
	// Abbreviated says that the ref is the beginning of a commit's name. Anyone who can create a commit can
	// make one with the same beginning.
	Abbreviated bool
}

func (s RefStatus) Moved() bool { return s.Locked != s.Now }

func (o *Origins) RefStatus(ctx context.Context, from callsource.Source, entry lockfile.Module, at Location) (RefStatus, error) {
	locked := entry.Revision()
	if locked == "" || at.isHosted() {
		return RefStatus{}, nil
	}
	selected := from.HasConstraint && !at.FromServer()
	if selected {
		tagged, err := o.LocateLocked(ctx, from, entry)
		gone, isGone := errors.AsType[*NotOfferedError](err)
		switch {
		case isGone:
			return RefStatus{Name: "the tag of version " + gone.Version, Locked: locked, Gone: err, Fixed: true}, nil
		case err != nil:
			return RefStatus{}, err
		case tagged.Revision == locked:
			return RefStatus{Name: "version " + entry.Version.String(), Locked: locked, Now: locked, Fixed: true}, nil
		}
		at = tagged
	}
	name, exact := at.Package.Ref()
	fixed := exact || selected || at.FromServer() || isVersionTag(name, from.Address)
	if exact && name == locked {
		return RefStatus{Name: name, Locked: locked, Now: locked, Fixed: true, Exact: true}, nil
	}
	now, err := o.Reference(ctx, from, at, locked)
	switch {
	case errors.Is(err, getmodules.ErrRefNotFound) || errors.Is(err, fs.ErrNotExist):
		return RefStatus{Name: "the ref " + name, Locked: locked, Gone: err, Fixed: fixed, Exact: exact}, nil
	case err != nil:
		return RefStatus{}, err
	}
	return RefStatus{
		Name: now.String(), Locked: locked, Now: now.Revision,
		Fixed: exact || fixed && now.Kind == getmodules.ReferenceTag, Exact: exact,
		Abbreviated: !exact && now.Kind == getmodules.ReferenceCommit,
	}, nil
}

type inHistory struct {
	named
	commit string
	// onlyRef limits the search to the history of the address's ref.
	onlyRef bool
}

// Reachable searches for a commit in the histories of branches and tags, once per client. With onlyRef it
// searches only that of the location's ref, also for a commit that no lock has. The zero Reach means that
// this is not known. The error is about asking the repository.
func (o *Origins) Reachable(ctx context.Context, from callsource.Source, commit string, at Location, onlyRef bool) (getmodules.Reach, error) {
	if o.Offline {
		return getmodules.Reach{}, errNotAtHand
	}
	if err := o.check(ctx, from); err != nil {
		return getmodules.Reach{}, err
	}
	key := inHistory{named: at.namedBy(from), commit: commit, onlyRef: onlyRef}
	return o.histories.do(ctx, o, key, func(ctx context.Context) (getmodules.Reach, error) {
		done, err := o.Slot(ctx) // a history can be large
		if err != nil {
			return getmodules.Reach{}, err
		}
		defer done()
		var inRef []getmodules.LockedCommit
		if onlyRef {
			ref, _ := at.Package.Ref()
			inRef = append(inRef, getmodules.LockedCommit{Revision: commit, Ref: ref, OnlyRef: true})
		}
		req := o.withRun(at.request(from))
		req.Revision = commit
		found, err := o.Fetcher.Reachable(ctx, req, inRef...)
		return found[commit], err
	})
}
