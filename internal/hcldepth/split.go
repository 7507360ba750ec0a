package hcldepth

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A checker checks the pieces of one file.
type checker struct {
	filename string
	budget   int
	effort   int // how many bytes may still be parsed, as elements are parsed with all that is around them
}

// check returns a diagnostic if src, which is one attribute or block or
// several, has a syntax error or might be too deep for the parser.
//
// If src is beyond the budget, the elements of one list, object, block or call in
// it are parsed a few at a time: a placeholder replaces the elements before them,
// and those behind them are left out. After a separator the parser is in the same
// state whatever came before it. So if it finds no syntax error then there is none
// in src either, and the parser gets no deeper in src than it did.
func (c *checker) check(src []byte, start hcl.Pos) hcl.Diagnostics {
	c.effort -= len(src)
	var tokens hclsyntax.Tokens
	if fitting(src, c.budget) < len(src) {
		tokens, _ = hclsyntax.LexConfig(src, c.filename, start) // the parser will find the same errors
	}
	total := weigh(tokens)
	if total <= c.budget {
		return syntaxError(src, c.filename, start)
	}

	tooLarge := tooDeep(hcl.Range{Filename: c.filename, Start: start}, true)
	open, closer := largestBrackets(tokens, total-c.budget/2)
	if open == closer || startsFor(tokens[open+1:closer]) {
		return tooLarge
	}
	first, placeholder := placeholderFor(tokens, open)
	around := total - weigh(tokens[first:closer])
	offset := func(token int) int { return tokens[token].Range.Start.Byte - start.Byte }
	before, after := slices.Concat(src[:offset(first)], placeholder), src[offset(closer):]
	parts := (total-around)/(c.budget-around) + 1
	if parts*(len(before)+len(after)) > c.effort {
		return tooLarge
	}
	for first < closer {
		end := elementsEnd(tokens[:closer], first, tokens[open].Type, c.budget-around)
		if weigh(tokens[first:end]) == total-around {
			return tooLarge // all others weigh nothing
		}
		elements := src[offset(first):offset(end)]
		diags := c.check(slices.Concat(before, elements, after), start)
		if diags.HasErrors() {
			at := diags[0].Subject.Start.Byte - start.Byte
			switch behind := len(before) + len(elements); {
			case at >= behind:
				at += offset(closer) - behind
			case at >= len(before)-len(placeholder):
				at = offset(first) + max(0, at-len(before))
			}
			moveTo(diags[0], src, start, at)
			return diags
		}
		first = end
	}
	return nil
}

// syntaxError returns the first syntax error of src. The others follow from it.
func syntaxError(src []byte, filename string, start hcl.Pos) hcl.Diagnostics {
	_, diags := hclsyntax.ParseConfig(src, filename, start)
	for _, d := range diags {
		// The parser goes on behind a second definition as behind the first.
		if d.Severity == hcl.DiagError && d.Summary != "Attribute redefined" {
			return hcl.Diagnostics{d}
		}
	}
	return nil
}

// largestBrackets returns the indexes of the innermost brackets whose elements
// can be parsed apart and weigh at least min. Both are 0 if there are none.
func largestBrackets(tokens hclsyntax.Tokens, min int) (open, closer int) {
	type opener struct{ index, weight int }
	var openers []opener
	weight := 0
	for i, token := range tokens {
		change, tokenWeight := level(token.Type)
		weight += tokenWeight
		switch {
		case change > 0:
			openers = append(openers, opener{i, weight})
		case change < 0 && len(openers) > 0:
			last := openers[len(openers)-1]
			openers = openers[:len(openers)-1]
			if weight-last.weight >= min && tokens[last.index].Type != hclsyntax.TokenTemplateInterp &&
				tokens[last.index].Type != hclsyntax.TokenTemplateControl {
				return last.index, i
			}
		}
	}
	return 0, 0
}

// startsFor reports whether a "for" is the first of the tokens in brackets. What
// follows it are no elements.
func startsFor(tokens hclsyntax.Tokens) bool {
	for _, token := range tokens {
		if token.Type != hclsyntax.TokenNewline && token.Type != hclsyntax.TokenComment {
			return token.Type == hclsyntax.TokenIdent && string(token.Bytes) == "for"
		}
	}
	return false
}

// placeholderFor returns an element to be put in front of the others, and the
// first token behind it. A block has its elements on lines of their own, so the
// end of the line after its bracket stays.
func placeholderFor(tokens hclsyntax.Tokens, open int) (first int, placeholder []byte) {
	first = open + 1
	if tokens[open].Type != hclsyntax.TokenOBrace {
		return first, []byte("0,")
	}
	for next := first; tokens[next].Type == hclsyntax.TokenComment || tokens[next].Type == hclsyntax.TokenNewline; next++ {
		if endsLine(tokens[next]) {
			return next + 1, []byte("hcldepth_placeholder = 0\n")
		}
	}
	return first, []byte("hcldepth_placeholder = 0,")
}

// elementsEnd returns the index behind the elements that begin at the token first
// and are within the budget together. It is at least one element.
func elementsEnd(tokens hclsyntax.Tokens, first int, open hclsyntax.TokenType, budget int) int {
	end, depth, weight := first, 0, 0
	for i := first; i < len(tokens); i++ {
		change, tokenWeight := level(tokens[i].Type)
		depth += change
		weight += tokenWeight
		if weight > budget && end > first {
			return end
		}
		separates := tokens[i].Type == hclsyntax.TokenComma || open == hclsyntax.TokenOBrace && endsLine(tokens[i])
		if depth == 0 && separates {
			end = i + 1
		}
	}
	return len(tokens)
}

// weigh returns the weight of the tokens together.
func weigh(tokens hclsyntax.Tokens) int {
	weight := 0
	for _, token := range tokens {
		_, w := level(token.Type)
		weight += w
	}
	return weight
}

// moveTo makes a diagnostic point to an offset in src.
func moveTo(d *hcl.Diagnostic, src []byte, start hcl.Pos, offset int) {
	line, column := position(src, offset)
	at := hcl.Pos{Line: start.Line + line - 1, Column: column, Byte: start.Byte + offset}
	d.Subject = &hcl.Range{Filename: d.Subject.Filename, Start: at, End: at}
	d.Context = nil
}
