package configread_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/text/unicode/rangetable"

	"github.com/cotterpin/cotter/addrs"
)

// Package addrs, which does not import HCL, accepts every name that the HCL library accepts. It
// accepts more only if the name has characters that the Unicode tables of this Go version lack, or
// that the library may lack: its tables are of Unicode 9 before version 2.25. Above U+20000, there are long ranges of ideographs, tags and private-use characters, of which only
// some are tested.
func TestNamesAgainstHCL(t *testing.T) {
	t.Parallel()
	valid := func(name string) bool {
		path, err := addrs.ParseModule(name)
		return err == nil && len(path) == 1
	}
	old := rangetable.Assigned("9.0.0")
	const changed = "\u1cf2\u1cf3\u200c\u200d\u30fb\uff65\U000111c9" // they have other properties since then
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r > 0x20000 && r%0x20 > 1 && r%0xffff > 1 {
			continue
		}
		later := hclsyntax.ValidIdentifier("a" + string(r))
		first := later && hclsyntax.ValidIdentifier(string(r)) // valid at the start implies valid later
		gotFirst, gotLater := valid(string(r)), valid("a"+string(r))
		if gotFirst == first && gotLater == later || gotLater && (unicode.Is(unicode.Cn, r) || !unicode.Is(old, r) || strings.ContainsRune(changed, r)) {
			continue
		}
		t.Errorf("the name %q is valid: %v, behind a letter: %v; in HCL %v, %v", string(r), gotFirst, gotLater, first, later)
	}
}
