package installer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store/lockentry"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
)

// lockedCall is a call with the lock entry that a run uses for it.
type lockedCall struct {
	call  *call
	entry lockfile.Module
	// why says whether the entry is that of the call, or of another call of the same source.
	why event.Selection
	// restored says that the lock had lost the entry.
	restored bool
	// knownMoved says that a warning has already named what the call's version or tag has now.
	knownMoved bool
	// otherAddress says that the entry was installed for another address than that of the call.
	otherAddress bool
	statements   lockentry.Statements
}

func (t *trust) lockedCall(c *call, entry lockfile.Module, why event.Selection) lockedCall {
	return lockedCall{call: c, entry: entry, why: why, otherAddress: t.addresses.isOther(c, entry), statements: statementsOf(c, entry)}
}

// namesCommit reports whether the source address names the commit of the entry, in full or abbreviated. A
// commit that a registry names is not meant.
func (l lockedCall) namesCommit() bool {
	from := l.call.From
	if !from.IsRemote() || from.HasConstraint || from.Repository.Getter() != "git" {
		return false
	}
	name, exact := from.Repository.Ref()
	return exact || name != "" && strings.HasPrefix(l.entry.Revision(), strings.ToLower(name))
}

// revisions asks origins about the revisions of lock entries: whether refs still point to them, and whether the
// history of their repositories contains them.
type revisions struct {
	origins *origins.Origins
	events  *events
	run     *trust
}

type revisionProof struct {
	// kind is who confirms that the revision belongs to the source: the origin or the user, if anyone.
	kind evidence.Kind
	// pointed says that the ref points to the revision, or need not.
	pointed bool
	// err is the reason why the run refuses the revision.
	err error
}

// prove asks the origin whether the ref of an entry points to the locked revision. If a commit is no longer
// what its ref points to, the history of the repository must contain it: a forge serves the commits of all
// forks and pull requests at the same address.
func (r *revisions) prove(ctx context.Context, l lockedCall, at origins.Location) revisionProof {
	status, err := r.origins.RefStatus(ctx, l.call.From, l.entry, at)
	switch {
	case err != nil:
		return revisionProof{err: err}
	case !status.Moved() && !status.Abbreviated:
		return revisionProof{kind: evidence.Origin, pointed: true}
	case status.Moved() && r.refusesMove(l, status):
		if status.Gone != nil {
			return revisionProof{err: status.Gone}
		}
		return revisionProof{err: &ContentChangedError{Confirming: true, Path: pathOf(l.entry.Key), Name: status.Name, Locked: status.Locked, Now: status.Now}}
	}
	proof := revisionProof{kind: evidence.Origin, pointed: !status.Fixed || !status.Moved()}
	if at.Package.Getter() == "git" {
		proof = r.proveHistory(ctx, l, at, status, proof)
	}
	if proof.err == nil && status.Moved() && status.Fixed && !l.knownMoved {
		r.events.emit(event.Warning{Path: l.call.Path, Kind: event.WarningMoved, Message: movedText(status)})
	}
	return proof
}

func (r *revisions) refusesMove(l lockedCall, status origins.RefStatus) bool {
	switch {
	case status.Exact:
		return true
	case !status.Fixed:
		return false
	}
	return r.run.rule.MovedTag == evidencerules.Refuse || r.run.isEdited(l.entry) || l.restored
}

func movedText(status origins.RefStatus) string {
	if status.Now == "" {
		return fmt.Sprintf("%s is gone; the locked %s is used", status.Name, status.Locked)
	}
	return fmt.Sprintf("%s points to %s now; the locked %s is used", status.Name, status.Now, status.Locked)
}

func (r *revisions) proveHistory(ctx context.Context, l lockedCall, at origins.Location, status origins.RefStatus, proof revisionProof) revisionProof {
	reach, err := r.origins.Reachable(ctx, l.call.From, l.entry.Revision(), at, false)
	if err != nil {
		return revisionProof{err: err}
	}
	refused := newUnreachableError(pathOf(l.entry.Key), status, reach)
	response := r.run.rule.Unreachable
	switch {
	case reach.Result == getmodules.Reachable:
		return proof
	case r.run.accepts(l.entry):
		proof.kind = evidence.User
		return proof
	case refused.Unknown:
		response = r.run.rule.Unknown
	}
	switch response {
	case evidencerules.Refuse:
		return revisionProof{err: refused}
	case evidencerules.Warn:
		r.events.emit(event.Warning{Path: l.call.Path, Kind: event.WarningUnknownHistory, Message: refused.Error()})
	}
	proof.kind = evidence.None
	return proof
}

func newUnreachableError(at addrs.Module, status origins.RefStatus, reach getmodules.Reach) *UnreachableError {
	return &UnreachableError{
		Path: at, Commit: status.Locked, Ref: status.Name, Now: status.Now, Fixed: status.Fixed,
		Unknown: reach.Result != getmodules.Unreachable, Err: reach.Err,
	}
}

// checkCommit applies the policies to a commit that the configuration names: the history of its repository must
// contain it. Evidence for the package does not say so, because a forge serves the commits of forks and pull
// requests too.
func (r *revisions) checkCommit(ctx context.Context, l lockedCall) error {
	if !r.needsHistory(l) {
		return nil
	}
	if r.origins.Offline {
		r.events.warn(l.call.Path, "the policy requires that a branch or tag contains its commit, which cannot be checked in offline mode")
		return nil
	}
	reach, err := r.origins.Reachable(ctx, l.call.From, l.entry.Revision(), origins.Location{Package: l.call.From.Repository}, false)
	if err != nil {
		return err
	}
	unknown := reach.Err
	switch reach.Result {
	case getmodules.Reachable:
		r.run.add(evidence.Evidence{Kind: evidence.Origin}, l.statements.History)
		return nil
	case getmodules.Unreachable:
		unknown = nil
	default:
		if unknown == nil {
			unknown = errors.New("the history could not be read")
		}
	}
	return r.origins.Rules.Each(func(p *policy.Policy) error { return p.CheckCommit(l.entry.Revision(), unknown) })
}

func (r *revisions) needsHistory(l lockedCall) bool {
	return r.origins.Rules.ReachableCommits() && l.namesCommit() && r.run.find(l.statements.History).IsZero()
}

// needsRef reports whether the run asks if the ref of a confirmed entry still points to the locked revision. A
// run that must not change the lock asks once. Other runs ask only about entries that the lock had lost.
func (r *revisions) needsRef(l lockedCall) bool {
	if r.origins.Offline {
		return false
	}
	return l.restored ||
		r.run.rule.MovedTag == evidencerules.Refuse && r.run.find(l.statements.Ref).IsZero()
}
