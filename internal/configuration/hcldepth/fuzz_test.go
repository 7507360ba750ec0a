package hcldepth_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
)

// If the pieces of a file have no syntax errors, the whole file must have none. Otherwise the
// parser could skip closing brackets, and its depth would not be limited.
func FuzzPieces(f *testing.F) {
	for _, src := range wellFormed {
		f.Add([]byte(src), uint8(1))
		f.Add([]byte(src+"\n"+src), uint8(20))
	}
	for _, h := range hostile {
		f.Add(h.source(3), uint8(3))
		f.Add(h.source(9), uint8(30))
	}
	for _, src := range []string{
		"b { a = 1\n c = {}\n d = {}\n}\n",
		"a = {for k, v in x : k => v\n b = {}\n c = {}\n}\n",
		"a = [for x in y : {}, {}, {}]\n",
		"a = f({}, {}..., {})\n",
		"a = x[{}, {}]\n",
		"a = {\nb = {}\n, c = {}}\n",
	} {
		f.Add([]byte(src), uint8(15))
	}
	f.Fuzz(func(t *testing.T, src []byte, budget uint8) {
		small := int(budget) + 1
		if hcldepth.Fitting(src, small) == len(src) || hcldepth.Fitting(src, hcldepth.Budget) < len(src) {
			return
		}
		if hcldepth.CheckPieces(t.Context(), src, "x", hcl.InitialPos, small).HasErrors() {
			return
		}
		_, diags := hclsyntax.ParseConfig(src, "x", hcl.InitialPos)
		for _, d := range diags {
			if d.Severity == hcl.DiagError && d.Summary != "Attribute redefined" {
				t.Fatalf("%q has no error in pieces of %d, and this one as a whole: %v", src, small, d)
			}
		}
	})
}

// Bytes that are not counted must not open a level.
func FuzzFitting(f *testing.F) {
	for _, src := range wellFormed {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		tokens, _ := hclsyntax.LexConfig(src, "x", hcl.InitialPos)
		weight := 0
		for _, token := range tokens {
			weight += hcldepth.TokenWeight(token.Type)
		}
		if weight > 0 && hcldepth.Fitting(src, weight-1) == len(src) {
			t.Fatalf("the tokens of %q weigh %d, and its bytes less", src, weight)
		}
	})
}

// No text may have more tokens and escapes than the bound.
func FuzzTokens(f *testing.F) {
	for _, src := range wellFormed {
		f.Add([]byte(src))
	}
	for _, d := range denseTexts {
		f.Add(d.source(3))
	}
	f.Add([]byte("a = \"$ $ ${ a } ${a} %{ if a } \"\nb = 1a1e1e\n"))
	f.Add([]byte("a = \"  \n  \x8c  \\q  "))
	f.Add([]byte("a = \"${\n\nb\n}\"\n/*\n\n"))
	f.Add([]byte("a{b=" + strings.Repeat("$", 4000) + "\n}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		tokens, _ := hclsyntax.LexConfig(src, "x", hcl.InitialPos)
		want := len(tokens)
		extra := 0
		for _, token := range tokens {
			if token.Type == hclsyntax.TokenQuotedLit || token.Type == hclsyntax.TokenStringLit {
				extra += bytes.Count(token.Bytes, []byte{'\\'})
			}
			if token.Type == hclsyntax.TokenInvalid {
				extra++
			}
		}
		if most, _ := hcldepth.Ceiling(src, math.MaxInt); most < want+extra-1 { // without the end of the file
			t.Fatalf("%q has %d tokens, %d escapes and invalid characters, and the bound is %d", src, want, extra, most)
		}
	})
}

func FuzzParseConfig(f *testing.F) {
	for _, src := range wellFormed {
		f.Add([]byte(src))
	}
	for _, h := range hostile {
		f.Add(h.source(3))
		f.Add(h.source(300))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, diags := hcldepth.ParseConfig(t.Context(), src, "x", hcl.InitialPos)
		if file == nil && !diags.HasErrors() {
			t.Fatalf("ParseConfig(%q) = nil without an error", src)
		}
	})
}

func FuzzParseJSON(f *testing.F) {
	f.Add([]byte(`{"module":{"a":{"source":"./a","list":[1,2.5e3,true,null,{}]}}}`))
	f.Add([]byte(`{"a":1,}`))
	f.Add([]byte(`[[[`))
	f.Add([]byte(`{"a{[\"":"}]"}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		_, _ = hcldepth.ParseJSON(t.Context(), src, "x")
	})
}
