package cotter

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/policy"
)

// revisionProof is what the origin says about the revision of an entry.
type revisionProof struct {
	// kind is who confirms that the revision belongs to the source: the origin, or the user.
	// It is evidence.None if that is not known.
	kind evidence.Kind
	// pointed says that the ref points to the revision, or need not.
	pointed bool
	// err is the reason why the run refuses the revision.
	err error
}

// proveRevision asks the origin whether the ref of an entry points to the locked revision. If a
// commit is no longer what its ref points to, the history of the repository must contain it: a
// forge serves the commits of all forks and pull requests at the same address.
func (w *wanted) proveRevision(ctx context.Context, at origins.Location) revisionProof {
	status, err := w.origins.RefStatus(ctx, w.c.from, w.entry, at)
	switch {
	case err != nil:
		return revisionProof{err: err}
	case !status.Moved() && !status.Abbreviated:
		return revisionProof{kind: evidence.Origin, pointed: true}
	case status.Moved() && w.refusesMove(status):
		if status.Gone != nil {
			return revisionProof{err: status.Gone}
		}
		return revisionProof{err: &MovedError{Key: w.entry.Key, Name: status.Name, Locked: status.Locked, Now: status.Now}}
	}
	proof := revisionProof{kind: evidence.Origin, pointed: !status.Fixed || !status.Moved()}
	if at.Package.Getter() == "git" {
		proof = w.proveHistory(ctx, at, status, proof)
	}
	if proof.err == nil && status.Moved() && status.Fixed {
		w.events.emit(Warning{Path: w.c.path, Kind: WarningMoved, Message: movedText(status)})
	}
	return proof
}

// refusesMove reports whether the run fails because a ref points to something else now.
func (w *wanted) refusesMove(status origins.RefStatus) bool {
	switch {
	case status.Exact:
		return true
	case !status.Fixed:
		return false
	}
	return w.run.rule.MovedTag == evidence.Refuse || w.run.isEdited(w.entry) || w.found.restored.Has(w.entry.Key)
}

func movedText(status origins.RefStatus) string {
	if status.Now == "" {
		return fmt.Sprintf("%s is gone; the locked %s is used", status.Name, status.Locked)
	}
	return fmt.Sprintf("%s points to %s now; the locked %s is used", status.Name, status.Now, status.Locked)
}

// proveHistory searches for the locked commit in the history of its repository.
func (w *wanted) proveHistory(ctx context.Context, at origins.Location, status origins.RefStatus, proof revisionProof) revisionProof {
	reach, err := w.origins.Reachable(ctx, w.c.from, w.entry, at)
	if err != nil {
		return revisionProof{err: err}
	}
	refused := newUnreachableError(w.entry.Key, status, reach)
	response := w.run.rule.Unreachable
	switch {
	case reach.Result == getmodules.Reachable:
		return proof
	case w.run.accepts(w.entry):
		proof.kind = evidence.User
		return proof
	case refused.Unknown:
		response = w.run.rule.Unknown
	}
	switch response {
	case evidence.Refuse:
		return revisionProof{err: refused}
	case evidence.Warn:
		w.events.emit(Warning{Path: w.c.path, Kind: WarningUnknownHistory, Message: refused.Error()})
	}
	proof.kind = evidence.None
	return proof
}

func newUnreachableError(key string, status origins.RefStatus, reach getmodules.Reach) *UnreachableError {
	return &UnreachableError{
		Key: key, Commit: status.Locked, Ref: status.Name, Now: status.Now, Fixed: status.Fixed,
		Unknown: reach.Result != getmodules.Unreachable, Err: reach.Err,
	}
}

// checkCommit applies the policies to a commit that the configuration names: the history of its
// repository must contain it. Evidence for the package does not say so, because a forge serves
// the commits of forks and pull requests too.
func (w *wanted) checkCommit(ctx context.Context) error {
	if !w.needsHistory() {
		return nil
	}
	if w.origins.Offline {
		w.events.warn(w.c.path, "the policy requires that a branch or tag contains its commit, which cannot be checked in offline mode")
		return nil
	}
	reach, err := w.origins.Reachable(ctx, w.c.from, w.entry, origins.Location{Package: w.c.from.Repository})
	if err != nil {
		return err
	}
	unknown := reach.Err
	switch reach.Result {
	case getmodules.Reachable:
		w.run.memos.Add(evidence.Evidence{Kind: evidence.Origin}, w.statements.History)
		return nil
	case getmodules.Unreachable:
		unknown = nil
	default:
		if unknown == nil {
			unknown = errors.New("the history could not be read")
		}
	}
	return w.origins.Rules.Each(func(p *policy.Policy) error { return p.CheckCommit(w.entry.Revision(), unknown) })
}

// needsHistory reports whether checkCommit has to search the history.
func (w *wanted) needsHistory() bool {
	return w.origins.Rules.ReachableCommits() && w.namesCommit() && w.run.find(w.statements.History).IsZero()
}

// namesCommit reports whether the source address names the commit of the entry, in full or
// abbreviated. A commit that a registry names is not meant.
func (w *wanted) namesCommit() bool {
	if !w.c.from.IsRemote() || w.c.from.HasConstraint || w.c.from.Repository.Getter() != "git" {
		return false
	}
	name, exact := w.c.from.Repository.Ref()
	return exact || name != "" && strings.HasPrefix(w.entry.Revision(), strings.ToLower(name))
}

// remember keeps what the origin has said about an entry, and returns the evidence.
func (w *wanted) remember(revision revisionProof) evidence.Evidence {
	e := evidence.Evidence{Kind: revision.kind}
	w.run.memos.Add(e, w.statements.Package)
	if revision.pointed {
		w.run.memos.Add(e, w.statements.Ref)
	}
	return e
}

// needsRef reports whether the run asks if the ref of a confirmed entry still points to the locked
// revision. A run that must not change the lock asks once. Other runs keep the locked revision,
// and ask only about entries that the lock had lost.
func (w *wanted) needsRef() bool {
	if w.origins.Offline {
		return false
	}
	return w.found.restored.Has(w.entry.Key) ||
		w.run.rule.MovedTag == evidence.Refuse && w.run.find(w.statements.Ref).IsZero()
}

// check asks a mirror or the origin whether the ref of a confirmed entry still points to the
// locked revision, if the run needs to know.
func (w *wanted) check(ctx context.Context, _ evidence.Evidence) error {
	if w.byMirror || !w.needsRef() {
		return nil
	}
	if w.mirrors(ctx); w.byMirror {
		return nil
	}
	at, err := w.origins.Locate(ctx, w.c.from, w.entry.Version)
	if err != nil {
		return err
	}
	proof := w.proveRevision(ctx, at)
	if proof.err == nil {
		w.remember(proof)
	}
	return proof.err
}
