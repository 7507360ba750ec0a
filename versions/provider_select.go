package versions

import (
	"cmp"
	"fmt"
	"slices"

	goversions "github.com/apparentlymart/go-versions/versions"
	"github.com/apparentlymart/go-versions/versions/constraints"
)

// SelectProvider returns the newest offered version of a provider that want allows. The
// order of the list does not matter; the package comment has the rules. The error is a
// *[NoProviderMatchError].
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
	// Prerelease is the newest offered pre-release that is excluded only because the
	// constraints do not name it; zero if there is none.
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

// namesUnspecified reports whether 0.0.0 is offered and a constraint names it.
func (e *NoProviderMatchError) namesUnspecified() bool {
	return slices.ContainsFunc(e.Offered, func(v Version) bool {
		parsed, ok := v.ofProvider()
		return ok && parsed == goversions.Unspecified
	}) && slices.ContainsFunc(e.Constraints.parts, func(part constraints.SelectionSpec) bool {
		return part.Operator == constraints.OpEqual && boundary(part.Boundary) == goversions.Unspecified
	})
}

// near returns the versions to list in a message, newest first: all offered versions if
// they are few, and otherwise the newest ones and those close to the versions that the
// constraints name.
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
