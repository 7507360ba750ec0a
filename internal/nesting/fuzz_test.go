package nesting_test

import (
	"regexp"
	"testing"

	"github.com/cotterpin/cotter/internal/nesting"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
)

// A file that the scanner finds well-formed must be well-formed to the parser:
// else the parser could be in recovery, where the scanner's count means
// nothing. The converse matters for large files only, but holds for ASCII.
func FuzzCheckHCL(f *testing.F) {
	for _, src := range wellFormed {
		f.Add([]byte(src))
	}
	for _, h := range hostile {
		f.Add(h.source(3))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if err := nesting.CheckHCL(src, nesting.DefaultLimit); err != nil {
			return
		}
		_, diags := hclsyntax.ParseConfig(src, "fuzz.tf", hcl.InitialPos)
		offset, fits := nesting.FollowsGrammar(src)
		if err := syntaxError(diags); fits && err != nil {
			t.Fatalf("scanner accepts %q, parser says %v", src, err)
		} else if !fits && err == nil && isASCII(src) && !spacedSplat.Match(src) && !hugeExponent.Match(src) {
			t.Fatalf("scanner rejects %q at %d, parser accepts it", src, offset)
		}
	})
}

// hugeExponent is that of a number which the scanner does not trust: to make
// text of it could take any amount of memory.
var hugeExponent = regexp.MustCompile(`[0-9.][eE][+-]?0*[1-9][0-9]{4}`)

func syntaxError(diags hcl.Diagnostics) error {
	for _, d := range diags {
		if d.Severity == hcl.DiagError && d.Summary != "Attribute redefined" {
			return d
		}
	}
	return nil
}

func isASCII(src []byte) bool {
	for _, b := range src {
		if b >= 0x80 {
			return false
		}
	}
	return true
}

func FuzzCheckJSON(f *testing.F) {
	f.Add([]byte(`{"module":{"a":{"source":"./a","list":[1,2.5e3,true,null,{}]}}}`))
	f.Add([]byte(`{"a":1,}`))
	f.Add([]byte(`[[[`))
	f.Add([]byte(`{"a{[\"":"}]"}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		if err := nesting.CheckJSON(src, nesting.DefaultLimit); err == nil {
			json.Parse(src, "fuzz.tf.json")
		}
	})
}
