package versions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// NoMatchError is returned if no offered version is allowed.
type NoMatchError struct {
	Constraints Constraints
	// Offered are all offered versions, newest first.
	Offered []Candidate
	// Prerelease is the newest offered pre-release that is excluded only because the
	// constraints do not name it; zero if there is none.
	Prerelease Version
}

func newNoMatchError(offered []Candidate, want Constraints) *NoMatchError {
	e := &NoMatchError{Constraints: want, Offered: newestFirst(offered)}
	for _, candidate := range e.Offered {
		if want.misses(candidate.Version) {
			e.Prerelease = candidate.Version
			break
		}
	}
	return e
}

// misses reports whether v is a pre-release that users may expect to be allowed: the
// constraints name it, or it is in their range, or its release is.
func (c Constraints) misses(v Version) bool {
	return v.IsPrerelease() && (c.names(v) || c.meets(v.parsed()) || c.meets(v.release().parsed()))
}

// newestFirst returns the candidates that have a version, newest first. The order does not
// depend on the order of the input.
func newestFirst(offered []Candidate) []Candidate {
	choices := make(map[Version]choice, len(offered))
	sorted := make([]Candidate, 0, len(offered))
	for _, candidate := range offered {
		v := candidate.Version
		if v.IsZero() {
			continue
		}
		sorted = append(sorted, candidate)
		if _, known := choices[v]; !known {
			choices[v] = choice{version: v, parsed: v.parsed()}
		}
	}
	// Sort twice, because precedence is not a strict order among pre-releases: the second
	// sort always starts from the same list.
	slices.SortFunc(sorted, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Version.canonical, a.Version.canonical), cmp.Compare(a.Ref, b.Ref), cmp.Compare(a.Revision, b.Revision))
	})
	slices.SortStableFunc(sorted, func(a, b Candidate) int {
		return choices[b.Version].compare(choices[a.Version])
	})
	return sorted
}

func (e *NoMatchError) Error() string {
	offered := make([]Version, len(e.Offered))
	for i, candidate := range e.Offered {
		offered[i] = candidate.Version
	}
	return noMatchMessage(e.Constraints.String(), "offered", offered, e.Prerelease)
}

// noMatchMessage lists the first of the offered versions, without duplicates, after label.
func noMatchMessage(constraints, label string, offered []Version, prerelease Version) string {
	if len(offered) == 0 {
		return "offers no versions"
	}
	var b strings.Builder
	if constraints == "" {
		b.WriteString("offers only pre-releases")
	} else {
		fmt.Fprintf(&b, "no version meets the constraint %s", quote(constraints))
	}
	var names []string
	for _, v := range offered {
		names = append(names, v.String())
	}
	names = slices.Compact(names)
	fmt.Fprintf(&b, "; %s: %s", label, list(names[:min(len(names), maxListed)], len(names)))
	if !prerelease.IsZero() {
		fmt.Fprintf(&b, "; the pre-release %s would match if it were pinned exactly: %q", prerelease, prerelease)
	}
	return b.String()
}
