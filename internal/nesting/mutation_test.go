package nesting_test

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/cotterpin/cotter/internal/nesting"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// mutationRuns is enough to find each rule of the grammar that is left out.
const mutationRuns = 30_000

var alphabet = []string{
	"a", "for", "in", "if", "else", "endif", "endfor", "0", "1.5", "1e5", "b {", "{", "}", "(", ")", "[", "]", "\n",
	" ", "\"", "${", "%{", "~}", "$${", "%%{", "<<A\n", "\nA\n", "?", ":", "::", ",", "=", "==", "=>", "-", "!", "!=",
	"+", "*", "[*]", ".*", ".a", ".0", ".", "...", "# c\n", "/* c */", "f(", "\"s\"", "\\n", "\\q", "\r\n", "<", "&&",
	"%{if a}", "%{else}", "%{endif}", "%{for a in b}", "%{endfor}", "a = 1\n", "x { y = 1 }\n", "[for a in b:", "{for a in b:a=>",
}

// mutant is a well-formed file with a few pieces put in, taken out or doubled.
func mutant(rnd *rand.Rand) []byte {
	src := []byte(wellFormed[rnd.IntN(len(wellFormed))])
	for range 1 + rnd.IntN(4) {
		from := rnd.IntN(len(src) + 1)
		to := min(len(src), from+rnd.IntN(8))
		piece := alphabet[rnd.IntN(len(alphabet))]
		switch rnd.IntN(3) {
		case 0:
			to = from
		case 1:
			piece = ""
		}
		src = append(append(append([]byte(nil), src[:from]...), piece...), src[to:]...)
	}
	return src
}

// spacedSplat is what the scanner gives up on: more than spaces in "[*]".
var spacedSplat = regexp.MustCompile(`\[\s*([\n#/].*\s*)?\*\s*([\n#/].*\s*)?\]`)

func TestScannerAgreesWithParser(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range mutationRuns {
		src := mutant(rnd)
		if nesting.CheckHCL(src, nesting.DefaultLimit) != nil {
			continue
		}
		_, diags := hclsyntax.ParseConfig(src, "x", hcl.InitialPos)
		offset, fits := nesting.FollowsGrammar(src)
		if err := syntaxError(diags); fits && err != nil {
			t.Fatalf("scanner accepts %q, parser says %v", src, err)
		} else if !fits && err == nil && isASCII(src) && !spacedSplat.Match(src) {
			t.Fatalf("scanner rejects %q at %d, parser accepts it", src, offset)
		}
	}
}
