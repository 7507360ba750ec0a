package versions

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ParseError is the error for a text that is not a version or a constraint string.
type ParseError struct {
	// Kind is "version" or "version constraint".
	Kind  string
	Input string
	// Part is the invalid part: one constraint without the spaces around it, or the whole input.
	Part   string
	Reason string
}

func (e *ParseError) Error() string {
	if e.Part == e.Input {
		return fmt.Sprintf("invalid %s %s: %s", e.Kind, quote(e.Input), e.Reason)
	}
	return fmt.Sprintf("invalid %s %s in %s: %s", e.Kind, quote(e.Part), quote(e.Input), e.Reason)
}

func quote(s string) string {
	if len(s) > maxVersionBytes {
		return fmt.Sprintf("%q...", s[:maxVersionBytes])
	}
	return fmt.Sprintf("%q", s)
}

// AmbiguousVersionError is returned if a version is offered at several revisions, such as by two tags.
type AmbiguousVersionError struct {
	Version Version
	// Candidates are all candidates of the version, sorted by Ref.
	Candidates []Candidate
}

func (e *AmbiguousVersionError) Error() string {
	offers := make([]string, 0, maxListed)
	for _, c := range e.Candidates[:min(len(e.Candidates), maxListed)] {
		offers = append(offers, fmt.Sprintf("%q at %q", c.Ref, c.Revision))
	}
	return fmt.Sprintf("version %s is offered at different revisions: %s; pin the revision that is meant, or have the others removed at the origin",
		e.Version, list(offers, len(e.Candidates)))
}

const maxListed = 10

// list joins the first of total names with the number of the remaining ones.
func list(first []string, total int) string {
	text := strings.Join(first, ", ")
	if rest := total - len(first); rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text
}

// ErrDowngrade is wrapped by a [DowngradeError].
var ErrDowngrade = errors.New("the update would select a lower version than the locked one")

// DowngradeError is returned if an update would select a lower version than the locked one.
type DowngradeError struct {
	Locked, Selected Version
}

func (e *DowngradeError) Error() string {
	return fmt.Sprintf("%s: %s -> %s", ErrDowngrade, e.Locked, e.Selected)
}

func (e *DowngradeError) Unwrap() error { return ErrDowngrade }

// NoMatchError is returned if no offered version is allowed.
type NoMatchError struct {
	Constraints Constraints
	// Offered are all offered versions, newest first.
	Offered []Candidate
	// Prerelease is the newest pre-release that is excluded only because the constraints do not name it.
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

// misses reports whether users may expect the pre-release v: it is named, or it or its release is in
// range.
func (c Constraints) misses(v Version) bool {
	return v.IsPrerelease() && (c.names(v) || c.meets(v.parsed()) || c.meets(v.release().parsed()))
}

// newestFirst returns the candidates that have a version, in an order that does not depend on the
// input's.
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
