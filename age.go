package cotter

import (
	"errors"
	"fmt"

	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/versions"
)

// tooYoung is the violation that a version is by its age, or nil. What the lock
// has was chosen before, and stays.
func (r *run) tooYoung(n *node, c versions.Candidate) error {
	if entry, locked := r.lock.Module(n.path.String()); locked && entry.Version == c.Version.String() && entry.Source == lockAddress(n.source) {
		return nil
	}
	return r.rules.each(func(p *policy.Policy) error { return p.CheckAge(c.Version.String(), c.Published, r.began) })
}

// oldEnough divides versions by their age.
func (r *run) oldEnough(n *node, offered []versions.Candidate) (old, young []versions.Candidate) {
	if !r.rules.wantAge() {
		return offered, nil
	}
	for _, c := range offered {
		if r.tooYoung(n, c) == nil {
			old = append(old, c)
		} else {
			young = append(young, c)
		}
	}
	return old, young
}

// selectOld selects the newest version that is wanted and old enough.
func (r *run) selectOld(n *node, offered []versions.Candidate, want versions.Constraints) (versions.Candidate, error) {
	old, young := r.oldEnough(n, offered)
	selected, err := versions.Select(old, want)
	younger, youngErr := versions.Select(young, want)
	var none *versions.NoMatchError
	switch {
	case errors.As(err, &none) && youngErr == nil:
		return versions.Candidate{}, r.tooYoung(n, younger)
	case err != nil:
		return versions.Candidate{}, err
	case youngErr == nil && younger.Version.Compare(selected.Version) > 0:
		r.warn(n.path, fmt.Sprintf("version %s was passed over: %s", younger.Version, r.tooYoung(n, younger)))
	case r.rules.wantAge() && selected.Published.IsZero():
		r.warn(n.path, fmt.Sprintf("its origin does not tell the age of version %s, so the policy's min_age_days was not applied", selected.Version))
	}
	return selected, nil
}
