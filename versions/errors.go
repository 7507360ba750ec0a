package versions

import (
	"errors"
	"fmt"
	"strings"
)

// ParseError is the error for a text that is not a version or a constraint string.
type ParseError struct {
	// Kind is "version" or "version constraint".
	Kind string
	// Input is the whole text.
	Input string
	// Part is the invalid part: one constraint without the spaces around it, or the whole
	// input.
	Part string
	// Reason describes the error in the part.
	Reason string
}

func (e *ParseError) Error() string {
	if e.Part == e.Input {
		return fmt.Sprintf("invalid %s %s: %s", e.Kind, quote(e.Input), e.Reason)
	}
	return fmt.Sprintf("invalid %s %s in %s: %s", e.Kind, quote(e.Part), quote(e.Input), e.Reason)
}

// quote quotes a text for a message and limits its length.
func quote(s string) string {
	if len(s) > maxVersionBytes {
		return fmt.Sprintf("%q...", s[:maxVersionBytes])
	}
	return fmt.Sprintf("%q", s)
}

// AmbiguousVersionError is returned if a version is offered at several revisions, such as
// tags "v1.2.0" and "1.2.0" on different commits.
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

// maxListed is the maximum number of versions in a message.
const maxListed = 10

// list joins the first names of a list with the number of the remaining ones; total is the
// length of the list.
func list(first []string, total int) string {
	text := strings.Join(first, ", ")
	if rest := total - len(first); rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text
}

// ErrDowngrade says that an update would select a lower version than the locked one. The
// error is a *DowngradeError.
var ErrDowngrade = errors.New("the update would select a lower version than the locked one")

// DowngradeError names the lower version that an update would select. It wraps
// [ErrDowngrade].
type DowngradeError struct {
	Locked, Selected string
}

func (e *DowngradeError) Error() string {
	return fmt.Sprintf("%s: %s -> %s", ErrDowngrade, e.Locked, e.Selected)
}

// Unwrap returns [ErrDowngrade].
func (e *DowngradeError) Unwrap() error { return ErrDowngrade }
