package cotter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/versions"
)

// selector selects versions for calls without a usable lock entry.
type selector struct {
	origins *origins.Origins
	events  *events
	update  Update
	lock    *lockfile.File
	// unified has the versions that all calls of a source share; nil if each call selects
	// on its own.
	unified unified
}

// newest returns the newest version that a call's constraint allows, and its location. The
// version is "" if the source has no versions.
func (s *selector) newest(ctx context.Context, c *call) (version string, at origins.Location, err error) {
	want, err := s.wanted(c)
	if err != nil {
		return "", origins.Location{}, err
	}
	if !c.from.SelectsVersion() {
		at, err = s.origins.Locate(ctx, c.from, "")
		return "", at, c.failIf(err)
	}
	offered, err := s.offered(ctx, c)
	if err != nil {
		return "", origins.Location{}, err
	}
	selected, err := s.oldEnough(c, offered, want)
	if err == nil && c.from.Repository.Getter() == "oci" {
		selected, err = s.origins.SelectedTag(ctx, c.from, offered, selected, want)
	}
	if err != nil {
		return "", origins.Location{}, c.failVersion(fmt.Errorf("%s: %w", c.from.OfferedBy(), err))
	}
	if c.from.IsRemote() {
		return selected.Version.String(), c.from.TagLocation(selected), nil
	}
	version = selected.Version.String()
	at, err = s.origins.Locate(ctx, c.from, version)
	return version, at, c.failIf(err)
}

// offered lists the available versions for a call; nil if its source names a single
// revision.
func (s *selector) offered(ctx context.Context, c *call) ([]versions.Candidate, error) {
	offered, err := s.origins.Versions(ctx, c.from)
	return offered, c.failIf(err)
}

// wanted returns the constraint for a call: the version that all calls of the source share,
// the version that the request names, or the call's own constraint.
func (s *selector) wanted(c *call) (versions.Constraints, error) {
	if shared, ok := s.unified.version(c); ok {
		return versions.ParseConstraints(shared.String())
	}
	if s.update.To == "" || !slices.Contains(s.update.Keys, c.key()) {
		return c.from.Want, nil
	}
	to, err := versions.Parse(s.update.To)
	if err != nil {
		return versions.Constraints{}, c.fail(err)
	}
	if !c.from.SelectsVersion() {
		return versions.Constraints{}, c.fail(fmt.Errorf("the source has no versions, so it cannot be updated to version %s", to))
	}
	if !c.from.Want.Allows(to) {
		return versions.Constraints{}, c.failVersion(fmt.Errorf("the constraint %q does not allow version %s: change the constraint first", c.from.Want, to))
	}
	return versions.ParseConstraints(to.String())
}

// checkDirection returns an error if an update selects a lower version. If the constraint
// was changed and no longer allows the locked version, a lower version is fine.
func (s *selector) checkDirection(c *call, version string) error {
	entry, locked := s.lock.Module(c.key())
	if !locked || s.update.AllowDowngrade || !s.update.has(c.key()) || entry.Source != c.from.LockAddress() {
		return nil
	}
	was, err := versions.Parse(entry.Version)
	if err != nil {
		return nil // the lock has no version
	}
	is, err := versions.Parse(version)
	if err != nil || is.Compare(was) >= 0 || !c.from.Want.Allows(was) {
		return nil
	}
	return c.failVersion(&DowngradeError{Locked: was.String(), Selected: is.String()})
}

// tooYoung returns a policy violation if a version is too young, or nil. The locked version
// is never too young, because it was selected before.
func (s *selector) tooYoung(c *call, candidate versions.Candidate) error {
	entry, locked := s.lock.Module(c.key())
	if locked && entry.Version == candidate.Version.String() && entry.Source == c.from.LockAddress() {
		return nil
	}
	return s.origins.Rules.Each(func(p *policy.Policy) error {
		return p.CheckAge(candidate.Version.String(), candidate.Published, s.origins.Began)
	})
}

// byAge separates versions that are old enough for the policies from those that are too
// young.
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

// oldEnough selects the newest version that is both allowed and old enough.
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
		s.events.warn(c.path, fmt.Sprintf("version %s was passed over: %s", younger.Version, s.tooYoung(c, younger)))
	case s.origins.Rules.HaveMinAge() && selected.Published.IsZero():
		s.events.warn(c.path, fmt.Sprintf("its origin does not report the age of version %s, so the policy's min_age_days was not applied", selected.Version))
	}
	return selected, nil
}

// maxUnifyRounds is the maximum number of walks to find versions that fit all calls.
// Another round is needed if a new version calls other modules than the previous one did.
// Real trees need two rounds.
const maxUnifyRounds = 10

// ConflictError says that no version of a source meets the constraints of all of its calls.
// It occurs only for requests with Unify.
type ConflictError struct {
	// Source is the package or the repository, without credentials.
	Source string
	// Callers are the calls, in the order of their paths.
	Callers []Caller
	// Offered are the available versions, newest first.
	Offered []string
}

// Caller is a call whose constraint takes part in a conflict, or excludes a locked version.
type Caller struct {
	// Path is the called module's path.
	Path addrs.Module
	// Call is the module block, with its file and line.
	Call ModuleCall
	// Constraint is the call's constraint; "" for any version.
	Constraint string
}

func (e *ConflictError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Conflicting module version requirements\n\n")
	files := map[string]bool{}
	for _, c := range e.Callers {
		constraint := c.Constraint
		if constraint == "" {
			constraint = "of any number"
		}
		caller := "The root module"
		if above := c.Path[:len(c.Path)-1]; !above.IsRoot() {
			caller = fmt.Sprintf("Module %q", above)
		}
		fmt.Fprintf(&b, "%s requires module %q version %s (%s:%d)\n",
			caller, e.Source, constraint, c.Call.Range.Filename, c.Call.Range.Start.Line)
		files[c.Call.Range.Filename] = true
	}
	fmt.Fprintf(&b, "\nNo version of module %q satisfies all constraints", e.Source)
	if len(e.Offered) > 0 {
		fmt.Fprintf(&b, "; available versions: %s", strings.Join(e.Offered[:min(len(e.Offered), maxListed)], ", "))
	}
	b.WriteString(".\n\nTo resolve, update the version constraints in:")
	for _, file := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "\n  - %s", file)
	}
	return b.String()
}

// unified maps sources, as returned by Versioned, to the version that all calls of the
// source share. nil means that each call selects on its own.
type unified map[string]versions.Version

// version returns the version that all calls of a call's source share.
func (u unified) version(c *call) (versions.Version, bool) {
	if u == nil || !c.from.SelectsVersion() {
		return versions.Version{}, false
	}
	v, ok := u[c.from.Versioned()]
	return v, ok
}

// mismatch says why a lock entry cannot be used for a call that must share its version with
// other calls; "" if it can.
func (u unified) mismatch(c *call, entry lockfile.Module) string {
	if shared, ok := u.version(c); ok && entry.Version != shared.String() {
		return fmt.Sprintf("the lock has version %s, but all calls of this source must share version %s", entry.Version, shared)
	}
	return ""
}

// versionedCalls collects the calls that select versions, by source.
type versionedCalls struct {
	mu    sync.Mutex
	calls map[string][]*call
}

func newVersionedCalls() *versionedCalls { return &versionedCalls{calls: make(map[string][]*call)} }

// add records a call. It does nothing if v is nil.
func (v *versionedCalls) add(c *call) {
	if v == nil || !c.from.SelectsVersion() {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls[c.from.Versioned()] = append(v.calls[c.from.Versioned()], c)
}

// unify repeats look, which walks the tree without placing anything, until one version is
// found for all calls of each source. look returns the calls that it found, and a selector
// that lists their versions.
func unify(ctx context.Context, look func(context.Context, unified) (*versionedCalls, *selector, error)) (unified, error) {
	chosen := unified{}
	for range maxUnifyRounds {
		noted, s, err := look(ctx, chosen)
		if err != nil {
			return nil, err
		}
		next, err := s.chooseAll(ctx, noted.calls)
		if err != nil {
			return nil, err
		}
		if maps.Equal(next, chosen) {
			return chosen, nil
		}
		chosen = next
	}
	return nil, fmt.Errorf("no versions that suit all calls were found in %d attempts", maxUnifyRounds)
}

// chooseAll chooses a version for each source that was called.
func (s *selector) chooseAll(ctx context.Context, calls map[string][]*call) (unified, error) {
	chosen := unified{}
	var conflicts []error
	for _, source := range slices.Sorted(maps.Keys(calls)) {
		version, err := s.choose(ctx, calls[source])
		if err != nil {
			conflicts = append(conflicts, err)
		}
		chosen[source] = version
	}
	return chosen, errors.Join(conflicts...)
}

// choose chooses the version for the calls of one source: a locked version that all of them
// allow, or else the newest version that they all allow.
func (s *selector) choose(ctx context.Context, calls []*call) (versions.Version, error) {
	slices.SortFunc(calls, func(a, b *call) int { return strings.Compare(a.key(), b.key()) })
	if locked, ok := s.lockedFor(calls); ok {
		return locked, nil
	}
	offered, err := s.offered(ctx, calls[0])
	if err != nil {
		return versions.Version{}, err
	}
	offered, _ = s.byAge(calls[0], offered)
	suitable := slices.DeleteFunc(slices.Clone(offered), func(candidate versions.Candidate) bool { return !allAllow(calls, candidate.Version) })
	want := calls[0].from.Want
	for _, c := range calls {
		if !c.from.Want.IsZero() {
			want = c.from.Want
		}
	}
	selected, err := versions.Select(suitable, want)
	var none *versions.NoMatchError
	if errors.As(err, &none) {
		return versions.Version{}, conflict(calls, offered)
	}
	if err != nil {
		return versions.Version{}, calls[0].fail(err)
	}
	return selected.Version, nil
}

func allAllow(calls []*call, v versions.Version) bool {
	return !slices.ContainsFunc(calls, func(c *call) bool { return !c.from.Want.Allows(v) })
}

// lockedFor returns the highest locked version of any of the calls that all of them allow.
func (s *selector) lockedFor(calls []*call) (best versions.Version, found bool) {
	for _, c := range calls {
		entry, locked := s.lock.Module(c.key())
		if !locked || s.update.has(c.key()) || c.from.Mismatch(entry) != "" {
			continue
		}
		v, err := versions.Parse(entry.Version)
		if err != nil || !allAllow(calls, v) {
			continue
		}
		if !found || v.Compare(best) > 0 {
			best, found = v, true
		}
	}
	return best, found
}

func conflict(calls []*call, offered []versions.Candidate) error {
	e := &ConflictError{Source: addrs.Redact(calls[0].from.Versioned())}
	for _, c := range calls {
		e.Callers = append(e.Callers, *c.asCaller())
	}
	newest := slices.SortedFunc(slices.Values(offered), func(a, b versions.Candidate) int { return b.Version.Compare(a.Version) })
	for _, candidate := range newest {
		e.Offered = append(e.Offered, candidate.Version.String())
	}
	return e
}
