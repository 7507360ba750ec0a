package versions

import (
	"cmp"
	"slices"
	"strings"
)

// compareMetadata orders build metadata by its identifiers between the dots.
// Precedence ignores metadata, so any order would do that does not depend on
// the order of a list; this one makes "build.10" newer than "build.9".
func compareMetadata(a, b string) int {
	return slices.CompareFunc(identifiers(a), identifiers(b), compareIdentifiers)
}

func identifiers(metadata string) []string {
	if metadata == "" {
		return nil
	}
	return strings.Split(metadata, ".")
}

// compareIdentifiers puts numbers in order of their values, however many
// digits they have, and before all words.
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
