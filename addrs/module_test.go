package addrs_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/cotterpin/cotter/addrs"
	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/text/unicode/rangetable"
)

func TestModule(t *testing.T) {
	t.Parallel()
	var root addrs.Module
	if !root.IsRoot() || root.String() != "" {
		t.Errorf("the root module is %q, IsRoot() = %v", root, root.IsRoot())
	}
	network := root.Child("network")
	a, b := network.Child("a"), network.Child("b")
	if network.String() != "network" || a.String() != "network.a" || b.String() != "network.b" || a.IsRoot() {
		t.Errorf("Child: %q, %q, %q", network, a, b)
	}
}

func TestParseModule(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]addrs.Module{
		"test.01-a.x":  {"test", "01-a", "x"},
		"test.tests.-": {"test", "tests", "-"},
		"":             nil,
		"vpc":          {"vpc"},
		"app.net-1._x": {"app", "net-1", "_x"},
		"réseau.日本":    {"réseau", "日本"},
	} {
		got, err := addrs.ParseModule(key)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("ParseModule(%q) = %v, %v\n%s", key, got, err, diff)
		}
		if got.String() != key {
			t.Errorf("ParseModule(%q).String() = %q", key, got)
		}
	}
	for _, key := range []string{".", "a.", ".a", "a..b", "1a", "-a", "a/b", `a\b`, "..", "a b", "a\x00", "a\xff", "a\n", "*", "a:b",
		"01-a.test", "a.01-a", "test..x", "test.a/b", "test.a b", "test.é\x00"} {
		got, err := addrs.ParseModule(key)
		var parseError *addrs.ParseError
		if !errors.As(err, &parseError) || got != nil {
			t.Errorf("ParseModule(%q) = %v, %v, want a *ParseError", key, got, err)
		}
	}
}

// ValidName accepts every name that the HCL library accepts. It accepts more only if it has
// characters that the Unicode tables of this Go version lack, or that the library may lack: its
// tables are of Unicode 9 before version 2.25. Above U+20000, there are long
// ranges of ideographs, tags and private-use characters, of which only some are tested.
func TestValidNameAgainstHCL(t *testing.T) {
	t.Parallel()
	old := rangetable.Assigned("9.0.0")
	const changed = "\u1cf2\u1cf3\u200c\u200d\u30fb\uff65\U000111c9" // they have other properties since then
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r > 0x20000 && r%0x20 > 1 && r%0xffff > 1 {
			continue
		}
		later := hclsyntax.ValidIdentifier("a" + string(r))
		first := later && hclsyntax.ValidIdentifier(string(r)) // valid at the start implies valid later
		gotFirst, gotLater := addrs.ValidName(string(r)), addrs.ValidName("a"+string(r))
		if gotFirst == first && gotLater == later || gotLater && (unicode.Is(unicode.Cn, r) || !unicode.Is(old, r) || strings.ContainsRune(changed, r)) {
			continue
		}
		t.Errorf("ValidName(%q) = %v, %v behind a letter; in HCL %v, %v", string(r), gotFirst, gotLater, first, later)
	}
}
