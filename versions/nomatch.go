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
	// Prerelease is the newest offered pre-release that is excluded only because
	// the constraints do not name it; zero if there is none.
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

// misses reports whether v is a pre-release that users may expect to be allowed: one
// that is named, or that is in range itself or by its release.
func (c Constraints) misses(v Version) bool {
	return v.IsPrerelease() && (c.names(v) || c.meets(v.parsed()) || c.meets(v.release().parsed()))
}

// newestFirst returns the candidates that have a version, newest first, in an order
// that does not depend on the input.
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
	// Two passes, because precedence is not a strict order among pre-releases: the
	// second pass always starts from the same list.
	slices.SortFunc(sorted, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Version.canonical, a.Version.canonical), cmp.Compare(a.Ref, b.Ref), cmp.Compare(a.Revision, b.Revision))
	})
	slices.SortStableFunc(sorted, func(a, b Candidate) int {
		return choices[b.Version].compare(choices[a.Version])
	})
	return sorted
}

func (e *NoMatchError) Error() string {
	if len(e.Offered) == 0 {
		return "offers no versions"
	}
	var b strings.Builder
	if e.Constraints.IsZero() {
		b.WriteString("offers no version but pre-releases")
	} else {
		fmt.Fprintf(&b, "no version meets the constraint %s", quote(e.Constraints.String()))
	}
	fmt.Fprintf(&b, "; offered: %s", e.listOffered())
	if !e.Prerelease.IsZero() {
		fmt.Fprintf(&b, "; the pre-release %s would match if it were pinned exactly: %q", e.Prerelease, e.Prerelease)
	}
	return b.String()
}

// listOffered names the newest versions, each one once.
func (e *NoMatchError) listOffered() string {
	var names []string
	for _, candidate := range e.Offered {
		names = append(names, candidate.Version.String())
	}
	names = slices.Compact(names)
	return list(names[:min(len(names), maxListed)], len(names))
}
