package versions

import (
	"cmp"
	"slices"
	"time"

	goversion "github.com/hashicorp/go-version"
)

// Candidate is a version that an origin offers.
type Candidate struct {
	Version Version
	// Ref is the version as the origin writes it, such as "v1.2.0".
	Ref string
	// Revision is the immutable commit or digest, or "" if the listing has none.
	Revision string
	// Published is the time when the origin first saw the version; zero if it is not known.
	Published time.Time
}

// Select returns the allowed candidate of the highest precedence. The order of the list does not matter
// (stock tools take the first of several). If several versions have that precedence, these rules decide:
//
//   - a version that a part of want names exactly, including metadata or its absence
//   - the greatest metadata, compared by the identifiers between dots: numbers by value and before words, words
//     by their bytes, and a missing identifier before any other
//   - the canonical form that sorts last by its bytes ("1.0.0.0" after "1.0.0")
//
// Of several candidates for the version, such as the tags "v1.2.0" and "1.2.0", one with a revision is
// preferred, then the one whose Ref sorts first; different revisions are an *[AmbiguousVersionError]. If
// no candidate is allowed, the error is a *[NoMatchError]. Candidates without a version are ignored.
func Select(offered []Candidate, want Constraints) (Candidate, error) {
	best, found := newest(offered, want)
	if !found {
		return Candidate{}, newNoMatchError(offered, want)
	}
	return settle(SameVersion(offered, Candidate{Version: best}))
}

type choice struct {
	version Version
	parsed  *goversion.Version
	named   bool // whether a part names the version exactly
}

func newest(offered []Candidate, want Constraints) (_ Version, found bool) {
	var best choice
	for _, candidate := range offered {
		if candidate.Version.IsZero() || candidate.Version == best.version {
			continue
		}
		parsed := candidate.Version.parsed()
		if !want.allows(candidate.Version, parsed) {
			continue
		}
		next := choice{candidate.Version, parsed, want.names(candidate.Version)}
		if !found || next.compare(best) > 0 {
			best, found = next, true
		}
	}
	return best.version, found
}

// compare orders choices by precedence, and then by the further rules of [Select].
func (c choice) compare(other choice) int {
	if order := c.parsed.Compare(other.parsed); order != 0 {
		return order
	}
	if c.named != other.named {
		if c.named {
			return 1
		}
		return -1
	}
	return cmp.Or(
		compareMetadata(c.version.metadata(), other.version.metadata()),
		cmp.Compare(c.version.canonical, other.version.canonical),
	)
}

func settle(same []Candidate) (Candidate, error) {
	slices.SortFunc(same, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Ref, b.Ref), cmp.Compare(a.Revision, b.Revision))
	})
	picked := same[0]
	for _, candidate := range same[1:] {
		switch {
		case candidate.Revision == "" || candidate.Revision == picked.Revision:
		case picked.Revision == "":
			picked = candidate
		default:
			return Candidate{}, &AmbiguousVersionError{Version: picked.Version, Candidates: slices.Compact(same)}
		}
	}
	return picked, nil
}
