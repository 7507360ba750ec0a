package installer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/versions"
)

type selector struct {
	origins *origins.Origins
	events  *events
	update  Update
	lock    *lockfile.File
	// past is nil for a selector that looks for newer versions.
	past *past
	// unified has the versions that all calls of a source share; nil if each call selects on its own.
	unified unified
}

// find selects what the project uses for a call, if it fits, or else the newest version that the constraint allows.
func (s *selector) find(ctx context.Context, c *call) (selection, error) {
	want, err := s.wanted(c)
	if err != nil {
		return selection{}, err
	}
	if !c.From.SelectsVersion() {
		return s.findRevision(ctx, c)
	}
	offered, err := s.offered(ctx, c)
	if err != nil {
		return selection{}, err
	}
	found := selection{why: s.reason(c)}
	chosen, err := s.oldEnough(c, offered, want)
	if inUse, why, ok := s.inUse(c, offered, want); ok && err == nil {
		isOlder := chosen.Version.Compare(inUse.Version) > 0
		young := s.tooYoung(c, inUse)
		switch {
		case young == nil && isOlder:
			found.newer = chosen.Version
			fallthrough
		case young == nil:
			found.why, chosen = why, inUse
		case isOlder: // oldEnough has warned about a newer one
			s.events.warn(c.Path, fmt.Sprintf("version %s is %s, but was passed over: %s", inUse.Version, placeOf(why), young))
		}
	}
	if err == nil && c.From.Repository.Getter() == "oci" {
		chosen, err = s.origins.SelectedTag(ctx, c.From, offered, chosen, want)
	}
	if err != nil {
		return selection{}, c.FailVersion(fmt.Errorf("%s: %w", c.From.OfferedBy(), err))
	}
	found.version = chosen.Version
	if c.From.IsRemote() {
		found.at = origins.TagLocation(c.From, chosen)
		return found, nil
	}
	found.at, err = s.origins.Locate(ctx, c.From, found.version)
	return found, c.FailIf(err)
}

// findRevision selects the revision for a call whose source has no versions. A commit that a stock tool has
// installed stays in use if it is still in the history of its branch.
func (s *selector) findRevision(ctx context.Context, c *call) (selection, error) {
	found := selection{why: event.SelectionNewest}
	var err error
	if found.at, err = s.origins.Locate(ctx, c.From, versions.Version{}); err != nil {
		return selection{}, c.Fail(err)
	}
	commit := s.past.commit(c)
	if commit == "" {
		return found, nil
	}
	now, err := s.origins.Reference(ctx, c.From, found.at, commit)
	if err != nil {
		return selection{}, c.Fail(err)
	}
	isBranch := now.Kind == getmodules.ReferenceBranch || now.Kind == getmodules.ReferenceHead
	var reach getmodules.Reach
	if now.Revision != commit && isBranch {
		if reach, err = s.origins.Reachable(ctx, c.From, commit, found.at, true); err != nil {
			return selection{}, c.Fail(err)
		}
	}
	switch {
	case now.Revision == commit:
		found.why = event.SelectionInstalled
	case reach.Result == getmodules.Reachable:
		found.why, found.isBehind, found.at.Revision = event.SelectionInstalled, true, commit
	default:
		s.events.warn(c.Path, notKept(now, commit, reach))
	}
	return found, nil
}

func notKept(now getmodules.Reference, installed string, reach getmodules.Reach) string {
	text := fmt.Sprintf("commit %s is installed, but %s points to %s now", installed, now, now.Revision)
	switch {
	case reach.Result == getmodules.Unreachable:
		text += ", whose history does not have it"
	case reach.Err != nil:
		text += fmt.Sprintf(", and whether its history has it is not known (%s)", reach.Err)
	}
	return text + "; the new commit was selected"
}

// inUse returns the version that the project uses for a call, and why, if it is still offered and allowed.
func (s *selector) inUse(c *call, offered []versions.Candidate, want versions.Constraints) (versions.Candidate, event.Selection, bool) {
	known, why := s.past.among(c, offered)
	chosen, err := versions.Select(known, want)
	if err == nil {
		return chosen, why, true
	}
	if v, ok := s.past.version(c); ok && c.From.Allows(v) {
		s.events.warn(c.Path, fmt.Sprintf("version %s is installed, but it is no longer offered; the newest allowed version was selected", v))
	}
	return versions.Candidate{}, event.SelectionUnknown, false
}

// placeOf says where a version is that the project uses.
func placeOf(why event.Selection) string {
	if why == event.SelectionSameSource {
		return "in the lock"
	}
	return "installed"
}

// offered lists the available versions; nil if the source names a single revision.
func (s *selector) offered(ctx context.Context, c *call) ([]versions.Candidate, error) {
	offered, err := s.origins.Versions(ctx, c.From)
	if c.From.Allowed != nil {
		all := len(offered)
		offered = slices.DeleteFunc(slices.Clone(offered), func(v versions.Candidate) bool { return !c.From.Allowed(v.Version) })
		if err == nil && all > 0 && len(offered) == 0 {
			err = fmt.Errorf("%s: this program allows none of the %d versions", c.From.OfferedBy(), all)
		}
	}
	return offered, c.FailIf(err)
}

// wanted returns the constraint for a call: the version that all calls of the source share, or that the request
// names, or the call's own constraint.
func (s *selector) wanted(c *call) (versions.Constraints, error) {
	if shared, ok := s.unified.version(c); ok {
		return versions.ParseConstraints(shared.String())
	}
	if !s.requests(c) {
		return c.From.Want, nil
	}
	to := s.update.To
	if !c.From.SelectsVersion() {
		return versions.Constraints{}, c.Fail(fmt.Errorf("the source has no versions, so it cannot be updated to version %s", to))
	}
	if !c.From.Allows(to) {
		return versions.Constraints{}, c.FailVersion(&ConstraintError{Constraint: c.From.Want.String(), Version: to})
	}
	return versions.ParseConstraints(to.String())
}

// requests reports whether the update names the version of a call.
func (s *selector) requests(c *call) bool {
	return !s.update.To.IsZero() && hasPath(s.update.Keys, c.Key())
}

func (s *selector) reason(c *call) event.Selection {
	if _, ok := s.unified.version(c); ok {
		return event.SelectionUnified
	}
	if s.requests(c) {
		return event.SelectionRequested
	}
	return event.SelectionNewest
}

// checkDirection returns an error if an update selects a lower version, unless the constraint was changed and
// no longer allows the locked one.
func (s *selector) checkDirection(c *call, is versions.Version) error {
	entry, locked := s.lock.Module(c.Key())
	if !locked || s.update.AllowDowngrade || !s.update.has(c.Key()) || !c.From.IsOf(entry) {
		return nil
	}
	was := entry.Version
	if was.IsZero() || is.IsZero() || is.Compare(was) >= 0 || !c.From.Allows(was) {
		return nil
	}
	return c.FailVersion(&versions.DowngradeError{Locked: was, Selected: is})
}

// tooYoung returns a policy violation if a version is too young. The locked version never is, because it was
// selected before.
func (s *selector) tooYoung(c *call, candidate versions.Candidate) error {
	entry, locked := s.lock.Module(c.Key())
	if locked && entry.Version == candidate.Version && c.From.IsOf(entry) {
		return nil
	}
	return s.origins.Rules.Each(func(p *policy.Policy) error {
		return p.CheckAge(candidate.Version, candidate.Published, s.origins.Began)
	})
}

func (s *selector) byAge(c *call, offered []versions.Candidate) (old, young []versions.Candidate) {
	if !s.origins.Rules.HaveMinAge() {
		return offered, nil
	}
	for _, candidate := range offered {
		if s.tooYoung(c, candidate) == nil {
			old = append(old, candidate)
		} else {
			young = append(young, candidate)
		}
	}
	return old, young
}

func (s *selector) oldEnough(c *call, offered []versions.Candidate, want versions.Constraints) (versions.Candidate, error) {
	old, young := s.byAge(c, offered)
	selected, err := versions.Select(old, want)
	younger, youngErr := versions.Select(young, want)
	var none *versions.NoMatchError
	switch {
	case errors.As(err, &none) && youngErr == nil:
		return versions.Candidate{}, s.tooYoung(c, younger)
	case err != nil:
		return versions.Candidate{}, err
	case youngErr == nil && younger.Version.Compare(selected.Version) > 0:
		s.events.warn(c.Path, fmt.Sprintf("version %s was passed over: %s", younger.Version, s.tooYoung(c, younger)))
	case s.origins.Rules.HaveMinAge() && selected.Published.IsZero():
		s.events.warn(c.Path, fmt.Sprintf("its origin does not report the age of version %s, so the policy's min_age_days was not applied", selected.Version))
	}
	return selected, nil
}

func newestOf(offered []versions.Candidate, want versions.Constraints) versions.Version {
	selected, err := versions.Select(offered, want)
	if err != nil {
		return versions.Version{}
	}
	return selected.Version
}

// unified maps sources, as returned by Versioned, to the version that all calls of the source share.
type unified map[string]versions.Version

func (u unified) version(c *call) (versions.Version, bool) {
	if u == nil || !c.From.SelectsVersion() {
		return versions.Version{}, false
	}
	v, ok := u[c.From.Versioned()]
	return v, ok
}

// mismatch says why a lock entry cannot be used for a call that must share its version; "" if it can.
func (u unified) mismatch(c *call, entry lockfile.Module) string {
	if shared, ok := u.version(c); ok && entry.Version != shared {
		return fmt.Sprintf("the lock has version %s, but all calls of this source must share version %s", entry.Version, shared)
	}
	return ""
}
