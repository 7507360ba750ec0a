package versions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	goversions "github.com/apparentlymart/go-versions/versions"
	"github.com/apparentlymart/go-versions/versions/constraints"
)

// ProviderConstraints are constraints on the version of a provider, with another meaning than those of
// modules; see the package comment. The zero value allows all versions except pre-releases.
type ProviderConstraints struct {
	parts []constraints.SelectionSpec
	set   goversions.Set // the versions that meet the parts; unset if there are no parts
}

// ParseProviderConstraints parses the version argument of a provider requirement. The
// empty string is an error, as in stock tools. Errors are *[ParseError].
func ParseProviderConstraints(s string) (ProviderConstraints, error) {
	// Stock tools parse configuration with the grammar of modules first.
	inModules, err := ParseConstraints(s)
	if err != nil {
		return ProviderConstraints{}, err
	}
	parts, err := constraints.ParseRubyStyleMulti(s)
	if err != nil || len(parts) != len(inModules.parts) {
		part, reason := whyNotProvider(s)
		return ProviderConstraints{}, constraintError(s, part, reason)
	}
	return newProviderConstraints(parts), nil
}

// MustParseProviderConstraints is [ParseProviderConstraints] for valid constraints. It panics on an
// error.
func MustParseProviderConstraints(s string) ProviderConstraints {
	return must(ParseProviderConstraints(s))
}

func newProviderConstraints(parts []constraints.SelectionSpec) ProviderConstraints {
	return ProviderConstraints{parts: parts, set: goversions.MeetingConstraints(constraints.IntersectionSpec(parts))}
}

func whyNotProvider(s string) (part, reason string) {
	for part := range strings.SplitSeq(s, ",") {
		part = strings.Trim(part, space)
		if _, err := constraints.ParseRubyStyle(part); err == nil {
			continue
		}
		operator, version := splitOperator(part)
		numbers := version[:strings.IndexAny(version+"-", "-+")]
		switch {
		case strings.HasPrefix(version, "v"):
			return part, `a provider's version has no leading "v"`
		case strings.Count(numbers, ".") > 2:
			return part, "a provider's version has at most three numbers"
		case len(part)-len(operator)-len(version) > 1:
			return part, "at most one space may follow the operator"
		}
		return part, "not a provider's version such as 1.2.3 or 1.2.3-beta1"
	}
	return s, reasonMalformed
}

// And returns the combination of c and others, for a provider that several modules require.
func (c ProviderConstraints) And(others ...ProviderConstraints) ProviderConstraints {
	parts := slices.Clone(c.parts)
	for _, other := range others {
		parts = append(parts, other.parts...)
	}
	if len(parts) == 0 {
		return ProviderConstraints{}
	}
	return newProviderConstraints(parts)
}

// Equal reports whether two constraints have the same text.
func (c ProviderConstraints) Equal(other ProviderConstraints) bool {
	return c.String() == other.String()
}

// IsZero reports whether there are no constraints.
func (c ProviderConstraints) IsZero() bool { return len(c.parts) == 0 }

// String returns the form that stock tools write to the lock: with three numbers (two after ~> if two
// were written), sorted by version, build metadata and operator, without duplicates.
func (c ProviderConstraints) String() string {
	sorted := make([]providerPart, len(c.parts))
	for i, spec := range c.parts {
		sorted[i] = providerPart{spec.Operator, boundary(spec.Boundary)}
	}
	slices.SortFunc(sorted, providerPart.compare)
	var written []string
	for _, p := range slices.Compact(sorted) {
		written = append(written, p.String())
	}
	return strings.Join(written, ", ")
}

// providerPart is one constraint, such as ">= 1.2.0".
type providerPart struct {
	operator constraints.SelectionOp
	version  goversions.Version
}

// boundary returns a version with zeros for the numbers that were not written.
func boundary(spec constraints.VersionSpec) goversions.Version {
	spec = spec.ConstrainToZero()
	return goversions.Version{
		Major: spec.Major.Num, Minor: spec.Minor.Num, Patch: spec.Patch.Num,
		Prerelease: goversions.VersionExtra(spec.Prerelease), Metadata: goversions.VersionExtra(spec.Metadata),
	}
}

// operators has the texts of the operators, and the order in which parts of the same version are written.
var operators = map[constraints.SelectionOp]struct {
	order int
	text  string
}{
	constraints.OpGreaterThan:                 {1, "> "},
	constraints.OpGreaterThanOrEqual:          {2, ">= "},
	constraints.OpEqual:                       {3, ""},
	constraints.OpGreaterThanOrEqualPatchOnly: {4, "~> "},
	constraints.OpGreaterThanOrEqualMinorOnly: {5, "~> "},
	constraints.OpLessThanOrEqual:             {6, "<= "},
	constraints.OpLessThan:                    {7, "< "},
	constraints.OpNotEqual:                    {8, "!= "},
}

func (p providerPart) compare(other providerPart) int {
	return cmp.Or(
		compareLess(p.version, other.version),
		compareLess(p.version.Metadata, other.version.Metadata),
		cmp.Compare(operators[p.operator].order, operators[other.operator].order),
	)
}

func (p providerPart) String() string {
	version := p.version.String()
	if p.operator == constraints.OpGreaterThanOrEqualMinorOnly {
		numbers := version[:strings.IndexAny(version+"-", "-+")]
		version = strings.TrimSuffix(numbers, ".0") + version[len(numbers):]
	}
	return operators[p.operator].text + version
}

// compareLess orders versions by precedence and metadata like pre-releases, as stock tools do.
func compareLess[T interface{ LessThan(T) bool }](a, b T) int {
	switch {
	case a.LessThan(b):
		return -1
	case b.LessThan(a):
		return 1
	}
	return 0
}

// Allows reports whether v meets the constraints. A pre-release is allowed only if a part names it
// exactly. The zero Version, 0.0.0 in any form, and versions that providers cannot have are never
// allowed.
func (c ProviderConstraints) Allows(v Version) bool {
	parsed, ok := v.ofProvider()
	return ok && c.allows(parsed)
}

func (c ProviderConstraints) allows(parsed goversions.Version) bool {
	if compareLess(parsed, goversions.Unspecified) <= 0 {
		return false // stock tools take the newest version above 0.0.0
	}
	if c.IsZero() {
		return parsed.Prerelease == ""
	}
	return c.set.Has(parsed)
}

// ParseProviderVersion parses a provider's version, which has no leading "v", at most three numbers, and
// a dash before a pre-release. The error is a *[ParseError].
func ParseProviderVersion(s string) (Version, error) {
	v, err := Parse(s)
	if err != nil {
		return Version{}, err
	}
	if _, err := goversions.ParseVersion(s); err != nil {
		return Version{}, &ParseError{Kind: "version", Input: s, Part: s, Reason: `not a provider's version such as 1.2.3 or 1.2.3-beta1`}
	}
	return v, nil
}

// ofProvider returns false if v cannot be the version of a provider.
func (v Version) ofProvider() (goversions.Version, bool) {
	parsed, err := goversions.ParseVersion(v.canonical)
	return parsed, err == nil
}

// SelectProvider returns the allowed version of the highest precedence. The order of the list does not matter. If
// several versions have that precedence, they differ in their metadata, and the greatest metadata is selected by
// the rule of [Select]; stock tools select any of them. The error is a *[NoProviderMatchError].
func SelectProvider(offered []Version, want ProviderConstraints) (Version, error) {
	var best Version
	var bestParsed goversions.Version
	for _, v := range offered {
		parsed, ok := v.ofProvider()
		if !ok || !want.allows(parsed) {
			continue
		}
		order := compareLess(parsed, bestParsed)
		if best.IsZero() || cmp.Or(order, compareMetadata(v.metadata(), best.metadata()), cmp.Compare(v.canonical, best.canonical)) > 0 {
			best, bestParsed = v, parsed
		}
	}
	if best.IsZero() {
		return Version{}, newNoProviderMatchError(offered, want)
	}
	return best, nil
}

// NoProviderMatchError is returned if no offered version of a provider is allowed.
type NoProviderMatchError struct {
	Constraints ProviderConstraints
	// Offered are all offered versions, newest first.
	Offered []Version
	// Prerelease is the newest pre-release that is excluded only because the constraints do not name it.
	Prerelease Version
}

func newNoProviderMatchError(offered []Version, want ProviderConstraints) *NoProviderMatchError {
	candidates := make([]Candidate, len(offered))
	for i, v := range offered {
		candidates[i].Version = v
	}
	e := &NoProviderMatchError{Constraints: want}
	for _, candidate := range newestFirst(candidates) {
		v := candidate.Version
		e.Offered = append(e.Offered, v)
		if e.Prerelease.IsZero() && v.IsPrerelease() && want.Allows(v.release()) {
			e.Prerelease = v
		}
	}
	return e
}

func (e *NoProviderMatchError) Error() string {
	near, label := e.near(), "offered"
	if len(near) < len(e.Offered) {
		label = fmt.Sprintf("nearest and newest of %d offered", len(e.Offered))
	}
	text := noMatchMessage(e.Constraints.String(), label, near, e.Prerelease)
	if e.namesUnspecified() {
		text += "; 0.0.0 stands for no version and is never selected"
	}
	return text
}

func (e *NoProviderMatchError) namesUnspecified() bool {
	return slices.ContainsFunc(e.Offered, func(v Version) bool {
		parsed, ok := v.ofProvider()
		return ok && parsed == goversions.Unspecified
	}) && slices.ContainsFunc(e.Constraints.parts, func(part constraints.SelectionSpec) bool {
		return part.Operator == constraints.OpEqual && boundary(part.Boundary) == goversions.Unspecified
	})
}

// near returns the versions to list, newest first: all if they are few, or else the newest ones and those
// close to the versions that the constraints name.
func (e *NoProviderMatchError) near() []Version {
	const newest, around = 3, 2
	if len(e.Offered) <= maxListed {
		return e.Offered
	}
	shown := make([]bool, len(e.Offered))
	show := func(from, to int) {
		for i := max(from, 0); i < min(to, len(shown)); i++ {
			shown[i] = true
		}
	}
	show(0, newest)
	for _, part := range e.Constraints.parts {
		named := boundary(part.Boundary)
		at := slices.IndexFunc(e.Offered, func(v Version) bool {
			parsed, ok := v.ofProvider()
			return ok && compareLess(parsed, named) <= 0
		})
		if at < 0 {
			at = len(e.Offered)
		}
		show(at-around, at+around)
	}
	var list []Version
	for i, v := range e.Offered {
		if shown[i] && len(list) < maxListed {
			list = append(list, v)
		}
	}
	return list
}
