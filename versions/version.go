package versions

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	goversion "github.com/hashicorp/go-version"
)

// maxVersionBytes limits a version as written and in canonical form, which gets into paths and messages.
const maxVersionBytes = 128

// Version is a version in canonical form. It is comparable with ==; the zero value is not a
// version. Build metadata counts for equality, but not for the order.
type Version struct{ canonical string }

// Parse parses a version as described in the package comment. The error is a *[ParseError].
func Parse(s string) (Version, error) {
	v, reason := parse(s)
	if reason != "" {
		return Version{}, &ParseError{Kind: "version", Input: s, Part: s, Reason: reason}
	}
	return v, nil
}

const (
	reasonTooLong   = "a version has at most 128 bytes" // maxVersionBytes
	reasonMalformed = "not a version such as 1.2.3 or 1.2.3-beta1"
)

func parse(s string) (_ Version, reason string) {
	if len(s) > maxVersionBytes {
		return Version{}, reasonTooLong
	}
	parsed, err := goversion.NewVersion(s)
	if err != nil {
		return Version{}, reasonMalformed
	}
	v := Version{canonical: parsed.String()}
	if len(v.canonical) > maxVersionBytes { // ".0" or "-" was added
		return Version{}, reasonTooLong
	}
	return v, ""
}

// MustParse is like [Parse], but panics on an error. It is for versions known to be valid.
func MustParse(s string) Version { return must(Parse(s)) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// String returns the canonical form, such as "1.2.0-beta1+build"; "" for the zero value.
func (v Version) String() string { return v.canonical }

// IsZero reports whether v is the zero value.
func (v Version) IsZero() bool { return v == Version{} }

// IsPrerelease reports whether v has a pre-release part, as in "1.2.0-beta1".
func (v Version) IsPrerelease() bool {
	core, _, _ := strings.Cut(v.canonical, "+")
	return strings.Contains(core, "-")
}

// Compare returns -1, 0 or +1 by precedence, as in stock tools: 0 for versions that differ only in
// metadata. The zero value sorts first. go-version's order of pre-releases of one release is not strict:
// "1.0.0-01" and "1.0.0-1" each sort before the other.
func (v Version) Compare(other Version) int {
	switch {
	case v == other:
		return 0
	case v.IsZero():
		return -1
	case other.IsZero():
		return 1
	}
	if a, ok := v.numbers(); ok {
		if b, ok := other.numbers(); ok {
			return slices.Compare(a[:], b[:])
		}
	}
	return v.parsed().Compare(other.parsed())
}

// numbers returns the numbers of a release with three of them, as most versions are. Registries list up to 100,000
// versions, and parsing two for each comparison takes seconds.
func (v Version) numbers() (three [3]int64, ok bool) {
	rest := v.canonical
	for i := range three {
		part, after, more := strings.Cut(rest, ".")
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || more == (i == len(three)-1) {
			return three, false
		}
		three[i], rest = n, after
	}
	return three, true
}

// parsed must not be called on the zero value.
func (v Version) parsed() *goversion.Version {
	return goversion.Must(goversion.NewVersion(v.canonical))
}

func (v Version) metadata() string {
	_, metadata, _ := strings.Cut(v.canonical, "+")
	return metadata
}

func (v Version) release() Version {
	numbers, _, _ := strings.Cut(v.canonical, "+")
	numbers, _, _ = strings.Cut(numbers, "-")
	return Version{canonical: numbers}
}

// compareMetadata orders metadata, which precedence ignores, so that selections do not depend on the
// order of a list. It compares the identifiers between dots: "build.10" is newer than "build.9".
func compareMetadata(a, b string) int {
	return slices.CompareFunc(identifiers(a), identifiers(b), compareIdentifiers)
}

func identifiers(metadata string) []string {
	if metadata == "" {
		return nil
	}
	return strings.Split(metadata, ".")
}

// compareIdentifiers orders numbers by value, with any number of digits, and before words.
func compareIdentifiers(a, b string) int {
	aNumeric, bNumeric := isNumeric(a), isNumeric(b)
	switch {
	case aNumeric && bNumeric:
		a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	case aNumeric:
		return -1
	case bNumeric:
		return 1
	}
	return cmp.Compare(a, b)
}

func isNumeric(identifier string) bool {
	return strings.Trim(identifier, "0123456789") == ""
}
