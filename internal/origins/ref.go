package origins

import (
	"context"
	"errors"
	"io/fs"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/lockfile"
)

// RefStatus compares the revision in a lock entry with the revision that the ref of the entry's
// location means now. The zero value is that of a package without revisions, such as an archive.
type RefStatus struct {
	// Name is the name of the ref for messages: "tag v1.2.0", "branch main", "HEAD", "commit 7c1f...".
	Name string
	// Locked is the revision in the lock. Now is what the ref means now, or "" if the repository
	// no longer has the ref.
	Locked, Now string
	// Gone is the error of a ref that the repository no longer has.
	Gone error
	// Fixed reports whether the ref must not move: a commit or a digest, a full version tag, or
	// the tag of a version that was selected. Exact reports whether it is a commit or a digest,
	// which cannot move.
	Fixed, Exact bool
	// Abbreviated reports whether the ref is the beginning of a commit's name. Anyone who can
	// create a commit can make one with the same beginning.
	Abbreviated bool
}

// Moved reports whether the ref means something other than the locked revision.
func (s RefStatus) Moved() bool { return s.Locked != s.Now }

// RefStatus compares the revision in an entry with what its ref means now.
func (o *Origins) RefStatus(ctx context.Context, from Source, entry lockfile.Module, at Location) (RefStatus, error) {
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
	pkg        addrs.ModulePackage
	fromServer bool
	by         caller
	commit     string
	// onlyRef says that only the history of the address's ref is searched.
	onlyRef bool
}

// Reachable searches for a commit in the histories of the branches and tags of a git repository, once per
// client. With onlyRef it searches only the history of the ref in the address of the location, also
// for a commit that no lock has. The zero Reach means that this is not known. The error is an error of
// asking the repository.
func (o *Origins) Reachable(ctx context.Context, from Source, commit string, at Location, onlyRef bool) (getmodules.Reach, error) {
	if o.Offline {
		return getmodules.Reach{}, errNotAtHand
	}
	if err := o.check(ctx, from); err != nil {
		return getmodules.Reach{}, err
	}
	key := inHistory{pkg: at.Package, fromServer: at.FromServer(), by: from.caller(), commit: commit, onlyRef: onlyRef}
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
