package versions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// NoMatchError says that nothing on offer is allowed.
type NoMatchError struct {
	Constraints Constraints
	// Offered is all that was on offer, newest first.
	Offered []Candidate
	// Prerelease is the newest pre-release on offer that the constraints leave
	// out only because they do not name it. It is zero if there is none.
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

// misses reports whether v is a pre-release that one would expect to be
// allowed: it is named, or it or its release is in range.
func (c Constraints) misses(v Version) bool {
	return v.IsPrerelease() && (c.names(v) || c.meets(v.parsed()) || c.meets(v.release().parsed()))
}

// newestFirst returns the candidates that have a version, in an order that
// does not depend on theirs.
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
	// Two passes, because precedence is no strict order among pre-releases: the
	// second one always starts from the same list.
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
