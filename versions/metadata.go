package versions

import (
	"cmp"
	"slices"
	"strings"
)

// compareMetadata orders build metadata by the identifiers between dots, so that "build.10"
// is newer than "build.9". Precedence ignores metadata; this order makes selections
// independent of the order of a list.
func compareMetadata(a, b string) int {
	return slices.CompareFunc(identifiers(a), identifiers(b), compareIdentifiers)
}

func identifiers(metadata string) []string {
	if metadata == "" {
		return nil
	}
	return strings.Split(metadata, ".")
}

// compareIdentifiers orders numbers by value, with any number of digits. Numbers come
// before words.
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
