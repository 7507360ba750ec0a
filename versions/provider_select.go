package versions

import (
	"cmp"

	goversions "github.com/apparentlymart/go-versions/versions"
)

// SelectProvider returns the newest offered version of a provider that want allows,
// independent of the order of the list; the package comment has the rules. The error
// is a *[NoProviderMatchError].
func SelectProvider(offered []Version, want ProviderConstraints) (Version, error) {
	var best Version
	var bestParsed goversions.Version
	for _, v := range offered {
		parsed, ok := v.ofProvider()
		if !ok || !want.allows(parsed) {
			continue
		}
		order := compareProviderVersions(parsed, bestParsed)
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
	// Prerelease is the newest offered pre-release that is excluded only because
	// the constraints do not name it; zero if there is none.
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
	return noMatchMessage(e.Constraints.String(), e.Offered, e.Prerelease)
}
