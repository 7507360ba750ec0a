package configs_test

import (
	"testing"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/addrs"
)

// Package addrs, which does not import HCL, accepts every name that the HCL library accepts. It
// accepts more only if the name has characters that the Unicode tables of this Go version lack.
// Above U+20000, there are long ranges of ideographs, tags and private-use characters, of which only
// some are tested.
func TestNamesAgainstHCL(t *testing.T) {
	t.Parallel()
	valid := func(name string) bool {
		path, err := addrs.ParseModule(name)
		return err == nil && len(path) == 1
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r > 0x20000 && r%0x20 > 1 && r%0xffff > 1 {
			continue
		}
		later := hclsyntax.ValidIdentifier("a" + string(r))
		first := later && hclsyntax.ValidIdentifier(string(r)) // valid at the start implies valid later
		gotFirst, gotLater := valid(string(r)), valid("a"+string(r))
		if gotFirst == first && gotLater == later || gotLater && unicode.Is(unicode.Cn, r) {
			continue
		}
		t.Errorf("the name %q is valid: %v, behind a letter: %v; in HCL %v, %v", string(r), gotFirst, gotLater, first, later)
	}
}
