package versions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	goversion "github.com/hashicorp/go-version"
)

// maxConstraintsBytes limits untrusted configuration, whose parts are each checked against every version.
const maxConstraintsBytes = 4096

// space is the white space that go-version allows around operators and versions.
const space = " \t\n\f\r"

// Constraints is a parsed constraint string. The zero value allows all versions except pre-releases.
type Constraints struct{ parts []part }

type part struct {
	operator string // "" as written, which means "="
	written  string // the version as written
	version  Version
	matches  goversion.Constraints
}

// ParseConstraints parses a constraint string such as ">= 1.2.0, < 2.0.0". The empty string is an error,
// as in stock tools; use the zero Constraints for a call without a version. Errors are *[ParseError].
func ParseConstraints(s string) (Constraints, error) {
	if len(s) > maxConstraintsBytes {
		return Constraints{}, constraintError(s, s, "a version constraint has at most 4096 bytes")
	}
	var c Constraints
	for text := range strings.SplitSeq(s, ",") {
		text = strings.Trim(text, space)
		parsed, reason := parsePart(text)
		if reason != "" {
			return Constraints{}, constraintError(s, text, reason)
		}
		c.parts = append(c.parts, parsed)
	}
	return c, nil
}

// MustParseConstraints is [ParseConstraints] for constraints known to be valid. It panics on an error.
func MustParseConstraints(s string) Constraints { return must(ParseConstraints(s)) }

func constraintError(input, part, reason string) *ParseError {
	return &ParseError{Kind: "version constraint", Input: input, Part: part, Reason: reason}
}

func parsePart(text string) (_ part, reason string) {
	operator, written := splitOperator(text)
	version, reason := parse(written)
	if reason != "" {
		return part{}, cmp.Or(whyNot(text, written), reason)
	}
	matches, err := goversion.NewConstraint(operator + written)
	if err != nil {
		return part{}, reasonMalformed
	}
	return part{operator: operator, written: written, version: version, matches: matches}, ""
}

func splitOperator(text string) (operator, version string) {
	for _, operator := range [...]string{"<=", ">=", "!=", "~>", "<", ">", "="} {
		if rest, ok := strings.CutPrefix(text, operator); ok {
			return operator, strings.TrimLeft(rest, space)
		}
	}
	return "", text
}

// whyNot returns a reason for syntax of other tools, or "" if the version itself is invalid.
func whyNot(text, written string) string {
	const operators = "the operators are =, !=, >, >=, <, <= and ~>"
	switch {
	case text == "":
		return "a constraint is missing; remove the extra comma or the empty string"
	case written == "":
		return "the operator has no version after it"
	case strings.Contains(text, "||"):
		return "alternatives are not supported"
	case strings.ContainsAny(written[:1], "=<>!~^"):
		return operators
	case strings.ContainsAny(written, space+"<>=^"):
		return "several constraints are separated by commas"
	case strings.Contains(written, "*"), strings.HasSuffix(written, ".x"):
		return `wildcards are not supported; write "~> 1.2.0" for any 1.2 version`
	}
	return ""
}

// String returns the constraints as written, with one space after each operator and comma, and no others.
func (c Constraints) String() string {
	written := make([]string, len(c.parts))
	for i, p := range c.parts {
		written[i] = strings.TrimLeft(p.operator+" "+p.written, space)
	}
	return strings.Join(written, ", ")
}

// MoveConstraint rewrites a constraint string of a single part with the operator ~>, = or >=, or with
// none, so that it allows a version. Operator and spaces stay, and as many numbers as before, or all if
// fewer would not allow the version. It reports whether that is possible: not for a pre-release with ~>
// or >=.
func MoveConstraint(s string, to Version) (string, bool) {
	c, err := ParseConstraints(s)
	if err != nil || len(c.parts) != 1 || to.IsZero() {
		return "", false
	}
	p := c.parts[0]
	if !slices.Contains([]string{"", "=", ">=", "~>"}, p.operator) {
		return "", false
	}
	head := strings.TrimSuffix(strings.TrimRight(s, space), p.written)
	if strings.HasPrefix(p.written, "v") {
		head += "v"
	}
	written, _, _ := strings.Cut(strings.TrimLeft(p.written, "v"), "-")
	written, _, _ = strings.Cut(written, "+")
	count := strings.Count(written, ".") + 1
	numbers := strings.Split(to.release().String(), ".")
	for _, version := range []string{strings.Join(numbers[:min(count, len(numbers))], "."), to.String()} {
		moved, err := ParseConstraints(head + version)
		if err == nil && moved.Allows(to) {
			return head + version, true
		}
	}
	return "", false
}

// Equal reports whether two constraints have the same text.
func (c Constraints) Equal(other Constraints) bool { return c.String() == other.String() }

// IsZero reports whether c is the zero value.
func (c Constraints) IsZero() bool { return len(c.parts) == 0 }

// Exact returns the version if the constraints consist of one part that names it exactly.
func (c Constraints) Exact() (v Version, ok bool) {
	if len(c.parts) != 1 || c.parts[0].operator != "" && c.parts[0].operator != "=" {
		return Version{}, false
	}
	return c.parts[0].version, true
}

// Allows reports whether v meets the constraints. A pre-release is allowed only by a single part that
// names it exactly, the zero Version never.
func (c Constraints) Allows(v Version) bool {
	return !v.IsZero() && c.allows(v, v.parsed())
}

// Example returns a version that meets the constraints, if possible one that they name; zero if none
// does.
func (c Constraints) Example() Version {
	candidates := []Version{MustParse("0.0.0")}
	for _, p := range c.parts {
		numbers := p.version.parsed().Segments64()
		for i := range numbers {
			next := slices.Clone(numbers[:i+1])
			next[i]++
			candidates = append(candidates, versionOf(next))
		}
		candidates = append(candidates, p.version, p.version.release())
	}
	slices.Reverse(candidates)
	for _, v := range candidates {
		if c.Allows(v) {
			return v
		}
	}
	return Version{}
}

// versionOf returns the version with the given numbers; the zero Version if it would be too long.
func versionOf(numbers []int64) Version {
	v, _ := parse(strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", "."), "[]"))
	return v
}

func (c Constraints) allows(v Version, parsed *goversion.Version) bool {
	if v.IsPrerelease() && (len(c.parts) != 1 || !c.names(v)) {
		return false
	}
	return c.meets(parsed)
}

// meets reports whether all parts match by the rules of go-version.
func (c Constraints) meets(parsed *goversion.Version) bool {
	return !slices.ContainsFunc(c.parts, func(p part) bool { return !p.matches.Check(parsed) })
}

func (c Constraints) names(v Version) bool {
	return slices.ContainsFunc(c.parts, func(p part) bool { return (p.operator == "" || p.operator == "=") && p.version == v })
}
