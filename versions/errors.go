package versions

import (
	"fmt"
	"strings"
)

// ParseError is a text that is no version or no constraint string.
type ParseError struct {
	// Kind is what was to be read: "version" or "version constraint".
	Kind string
	// Input is the whole text.
	Input string
	// Part is what is wrong in it: one constraint without the space around it,
	// or all of the input.
	Part string
	// Reason says what is wrong with the part.
	Reason string
}

func (e *ParseError) Error() string {
	if e.Part == e.Input {
		return fmt.Sprintf("invalid %s %s: %s", e.Kind, quote(e.Input), e.Reason)
	}
	return fmt.Sprintf("invalid %s %s in %s: %s", e.Kind, quote(e.Part), quote(e.Input), e.Reason)
}

// quote keeps a text of any length and content fit for a message.
func quote(s string) string {
	if len(s) > maxVersionBytes {
		return fmt.Sprintf("%q...", s[:maxVersionBytes])
	}
	return fmt.Sprintf("%q", s)
}

// AmbiguousVersionError says that one version stands for several revisions,
// such as tags "v1.2.0" and "1.2.0" on different commits. To take either would
// be to guess.
type AmbiguousVersionError struct {
	Version Version
	// Candidates are all the offers of the version, sorted by Ref.
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

// maxListed is how many versions a message names before it counts.
const maxListed = 10

// list joins the first few of total things.
func list(first []string, total int) string {
	text := strings.Join(first, ", ")
	if rest := total - len(first); rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text
}
