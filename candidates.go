package cotter

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/versions"
)

// unified are the versions that all calls of a source share, by what they are
// versions of. nil means that each call selects on its own.
type unified map[string]versions.Version

// version returns the version that all calls of a call's source share.
func (u unified) version(c *call) (versions.Version, bool) {
	if u == nil || !c.selectsVersion() {
		return versions.Version{}, false
	}
	v, ok := u[c.versioned()]
	return v, ok
}

// mismatch says why a lock entry does not decide a call whose version has to be
// that of others; "" if it does.
func (u unified) mismatch(c *call, entry lockfile.Module) string {
	if shared, ok := u.version(c); ok && entry.Version != shared.String() {
		return fmt.Sprintf("the lock has version %s, and all calls of this source have to share version %s", entry.Version, shared)
	}
	return ""
}

// selector selects versions for calls that the lock does not decide.
type selector struct {
	*origins
	update Update
	lock   *lockfile.File
	// unified are the versions that all calls of a source share; nil if each call
	// selects on its own.
	unified unified
}

// newest returns the newest version that a call's constraint allows, "" if its
// source has no versions, and where it is.
func (s *selector) newest(ctx context.Context, c *call) (version string, at location, err error) {
	want, err := s.wanted(c)
	if err != nil {
		return "", location{}, err
	}
	if !c.selectsVersion() {
		at, err = s.locate(ctx, c, "")
		return "", at, err
	}
	offered, err := s.offered(ctx, c)
	if err != nil {
		return "", location{}, err
	}
	selected, err := s.oldEnough(c, offered, want)
	if err == nil && c.repository.Getter() == "oci" {
		selected, err = s.ociRevision(ctx, c, offered, selected, want)
	}
	if err != nil {
		return "", location{}, c.failVersion(fmt.Errorf("%s: %w", c.offeredBy(), err))
	}
	if c.isRemote() {
		at = location{pkg: tagged(c.repository, selected.Ref), revision: selected.Revision}
		return selected.Version.String(), at, nil
	}
	version = selected.Version.String()
	at, err = s.locate(ctx, c, version)
	return version, at, err
}

// offeredBy is what offers the versions of a call, for messages.
func (c *call) offeredBy() string {
	if source, ok := c.source.(addrs.ModuleSourceRegistry); ok {
		return source.Package.String()
	}
	return c.repository.Redacted()
}

// wanted returns the versions that may be selected for a call: those of its
// constraint, or the one that the request names.
func (s *selector) wanted(c *call) (versions.Constraints, error) {
	if shared, ok := s.unified.version(c); ok {
		return versions.ParseConstraints(shared.String())
	}
	if s.update.To == "" || !slices.Contains(s.update.Keys, c.key()) {
		return c.want, nil
	}
	to, err := versions.Parse(s.update.To)
	if err != nil {
		return versions.Constraints{}, c.fail(err)
	}
	if !c.selectsVersion() {
		return versions.Constraints{}, c.fail(fmt.Errorf("there is no version %s to update to: the source names what it means", to))
	}
	if !c.want.Allows(to) {
		return versions.Constraints{}, c.failVersion(fmt.Errorf("the constraint %q does not allow version %s: change the constraint first", c.want, to))
	}
	return versions.ParseConstraints(to.String())
}

// checkDirection refuses an update to a lower version. A constraint that was
// changed to allow only lower ones is followed.
func (s *selector) checkDirection(c *call, version string) error {
	entry, locked := s.lock.Module(c.key())
	if !locked || s.update.AllowDowngrade || !s.update.has(c.key()) || entry.Source != c.lockSource() {
		return nil
	}
	was, err := versions.Parse(entry.Version)
	if err != nil {
		return nil // there was none
	}
	is, err := versions.Parse(version)
	if err != nil || is.Compare(was) >= 0 || !c.want.Allows(was) {
		return nil
	}
	return c.failVersion(&DowngradeError{Locked: was.String(), Selected: is.String()})
}

// tooYoung returns the policy violation that a version is by its age, or nil. What
// the lock has was selected before, and stays.
func (s *selector) tooYoung(c *call, candidate versions.Candidate) error {
	entry, locked := s.lock.Module(c.key())
	if locked && entry.Version == candidate.Version.String() && entry.Source == c.lockSource() {
		return nil
	}
	return s.rules.each(func(p *policy.Policy) error {
		return p.CheckAge(candidate.Version.String(), candidate.Published, s.began)
	})
}

// byAge divides versions by whether the policies find them old enough.
func (s *selector) byAge(c *call, offered []versions.Candidate) (old, young []versions.Candidate) {
	if !s.rules.haveMinAge() {
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

// oldEnough selects the newest version that is allowed and old enough.
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
	case s.rules.haveMinAge() && selected.Published.IsZero():
		s.events.warn(c.path, fmt.Sprintf("its origin does not tell the age of version %s, so the policy's min_age_days was not applied", selected.Version))
	}
	return selected, nil
}
