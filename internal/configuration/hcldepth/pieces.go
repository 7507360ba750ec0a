package hcldepth

import (
	"bytes"
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// The weights are the parser's use of the stack: up to 15 kB for a bracket and 2.3 kB for an operator.
const (
	bracketWeight  = 8
	operatorWeight = 1
	budget         = 1_500 * bracketWeight
)

// effortPerByte is how often a byte of a file may be parsed, on average.
const effortPerByte = 8

// fitting returns the length of the longest prefix of src within a budget. It counts every byte that can
// be part of a token that opens a level, even in text, so the tokens never weigh more.
func fitting(src []byte, budget int) int {
	weight := 0
	for i, b := range src {
		switch b {
		case '(', '[', '{':
			weight += bracketWeight
		case '?', '-', '!', '+', '*', '/', '%', '<', '>', '&', '|':
			weight += operatorWeight
		case '=':
			if i > 0 && src[i-1] == '=' {
				weight += operatorWeight
			}
		}
		if weight > budget {
			return i
		}
	}
	return len(src)
}

// checkPieces returns diagnostics if src might be too deep for the parser.
//
// Counting the open brackets is not enough. After its first syntax error, the parser skips tokens, including
// closing brackets, and continues at the depth that it had reached: "b {\n x }\n" repeated often enough
// exhausts the stack although it is never more than one bracket deep. These facts do not depend on HCL's
// grammar:
//
//   - The parser cannot go deeper than the number of tokens that open a level. A text within the budget for
//     these is safe, whatever it contains: the parser's stack stays below 32 MiB.
//   - A parser that finds no syntax error is exactly as deep as the number of open brackets.
//   - A line that ends outside of all brackets ends an attribute or a block. A comma, or the end of a line in
//     braces, ends an element of the surrounding brackets. So a larger text can be parsed in parts of a few
//     elements. If no part has a syntax error, the whole has none.
//
// So a long list of lists is accepted. A large expression without such elements, such as a sum of thousands
// of lists, is refused.
func checkPieces(ctx context.Context, src []byte, filename string, start hcl.Pos, budget int) hcl.Diagnostics {
	if fitting(src, budget) == len(src) {
		return nil
	}
	c := checker{ctx: ctx, filename: filename, budget: budget, effort: effortPerByte*len(src) + 1<<20}
	return c.check(src, start)
}

func level(token hclsyntax.TokenType) (change, weight int) {
	switch token {
	case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		return 1, bracketWeight
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
		return -1, 0
	case hclsyntax.TokenMinus, hclsyntax.TokenBang, hclsyntax.TokenQuestion, hclsyntax.TokenStar,
		hclsyntax.TokenPlus, hclsyntax.TokenSlash, hclsyntax.TokenPercent, hclsyntax.TokenAnd, hclsyntax.TokenOr,
		hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq,
		hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq:
		return 0, operatorWeight
	}
	return 0, 0
}

// endsLine counts comments, which include the end of their line.
func endsLine(token hclsyntax.Token) bool {
	return token.Type == hclsyntax.TokenNewline ||
		token.Type == hclsyntax.TokenComment && bytes.HasSuffix(token.Bytes, []byte("\n"))
}

type checker struct {
	ctx      context.Context
	filename string
	budget   int
	effort   int // the number of bytes that may still be parsed: elements are parsed together with the text around them
}

// check returns a diagnostic if src, one or more attributes or blocks, has a syntax error or might be too
// deep for the parser.
//
// Above the budget, it parses the elements of one list, object, block or call, or the attributes and blocks
// of src, a few at a time, with a placeholder for those before them and without those after them. After a
// separator, the parser is always in the same state. So if these texts have no syntax error, src has none
// either, and the parser gets no deeper in it.
func (c *checker) check(src []byte, start hcl.Pos) hcl.Diagnostics {
	if err := c.ctx.Err(); err != nil {
		return interrupted(c.filename, err)
	}
	c.effort -= len(src)
	var tokens hclsyntax.Tokens
	if fitting(src, c.budget) < len(src) {
		tokens, _ = hclsyntax.LexConfig(src, c.filename, start) // the parser will find the same errors
	}
	total := weigh(tokens)
	if total <= c.budget {
		return syntaxError(src, c.filename, start)
	}
	if diags := checkDepth(tokens); diags.HasErrors() {
		return diags
	}

	refused := tooDeep(hcl.Range{Filename: c.filename, Start: start}, true)
	// In front of attributes and blocks, the placeholder keeps a byte order mark from being at the beginning.
	first, closer, kind, placeholder := 0, len(tokens)-1, hclsyntax.TokenOBrace, []byte("\n")
	open, matching := largestBrackets(tokens, total-c.budget/2)
	if open != matching {
		if startsFor(tokens[open+1 : matching]) {
			return refused
		}
		first, placeholder = placeholderFor(tokens, open)
		closer, kind = matching, tokens[open].Type
	}
	around := total - weigh(tokens[first:closer])
	offset := func(token int) int { return tokens[token].Range.Start.Byte - start.Byte }
	before, after := slices.Concat(src[:offset(first)], placeholder), src[offset(closer):]
	parts := (total-around)/(c.budget-around) + 1
	if parts*(len(before)+len(after)) > c.effort {
		return refused
	}
	var ends []int // the offsets of the elements that are parsed together; the last is where they end
	for ends = []int{offset(first)}; first < closer; {
		end := elementsEnd(tokens[:closer], first, kind, c.budget-around)
		if weigh(tokens[first:end]) == total-around { // all other elements weigh nothing
			if open == matching { // an attribute or block of its own
				refused = tooDeep(hcl.Range{Filename: c.filename, Start: tokens[first].Range.Start}, true)
			}
			return refused
		}
		ends, first = append(ends, offset(end)), end
	}
	tokens = nil // so that only the innermost check has its tokens in memory
	for i, end := range ends[1:] {
		elements := src[ends[i]:end]
		diags := c.check(slices.Concat(before, elements, after), start)
		if diags.HasErrors() {
			if c.ctx.Err() != nil {
				return diags
			}
			at := diags[0].Subject.Start.Byte - start.Byte
			switch behind := len(before) + len(elements); {
			case at >= behind:
				at += ends[len(ends)-1] - behind
			case at >= len(before)-len(placeholder):
				at = ends[i] + max(0, at-len(before))
			}
			moveTo(diags[0], src, start, at)
			return diags
		}
	}
	return nil
}

// syntaxError returns only the first syntax error: further ones can be its consequences.
func syntaxError(src []byte, filename string, start hcl.Pos) hcl.Diagnostics {
	_, diags := hclsyntax.ParseConfig(src, filename, start)
	for _, d := range diags {
		// After a redefinition, the parser continues as after the first definition.
		if d.Severity == hcl.DiagError && d.Summary != "Attribute redefined" {
			return hcl.Diagnostics{d}
		}
	}
	return nil
}

// largestBrackets returns the innermost pair of brackets whose elements can be parsed separately and weigh
// at least min, or 0, 0.
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

// startsFor reports whether brackets contain a "for" expression, which has no elements.
func startsFor(tokens hclsyntax.Tokens) bool {
	for _, token := range tokens {
		if token.Type != hclsyntax.TokenNewline && token.Type != hclsyntax.TokenComment {
			return token.Type == hclsyntax.TokenIdent && string(token.Bytes) == "for"
		}
	}
	return false
}

// placeholderFor returns an element that replaces the first elements, and the index of the first token
// after it. It keeps the end of the line after the bracket of a block, whose elements are on lines.
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

// elementsEnd returns the index after those elements from first on, at least one, that are within the budget.
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
		if depth <= 0 && separates {
			end = i + 1
		}
	}
	return len(tokens)
}

func checkDepth(tokens hclsyntax.Tokens) hcl.Diagnostics {
	depth := 0
	for _, token := range tokens {
		change, _ := level(token.Type)
		if depth = max(0, depth+change); depth > MaxDepth {
			return tooDeep(token.Range, false)
		}
	}
	return nil
}

func weigh(tokens hclsyntax.Tokens) int {
	weight := 0
	for _, token := range tokens {
		_, w := level(token.Type)
		weight += w
	}
	return weight
}

func moveTo(d *hcl.Diagnostic, src []byte, start hcl.Pos, offset int) {
	line, column := position(src, offset)
	at := hcl.Pos{Line: start.Line + line - 1, Column: column, Byte: start.Byte + offset}
	d.Subject = &hcl.Range{Filename: d.Subject.Filename, Start: at, End: at}
	d.Context = nil
}
