package hcldepth

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// The weights correspond to the parser's use of the stack: up to 15 kB for a bracket, and up to
// 2.3 kB for an operator.
const (
	bracketWeight  = 8
	operatorWeight = 1
	budget         = 6_000 * bracketWeight
)

// effortPerByte is the maximum number of times that each byte of a file is parsed, on average.
const effortPerByte = 8

// ParseConfig is hclsyntax.ParseConfig for untrusted files. The file is nil if it is nested too
// deeply, or if it exceeds the budget and has a syntax error.
func ParseConfig(src []byte, filename string, start hcl.Pos) (*hcl.File, hcl.Diagnostics) {
	return parseWithin(src, filename, start, budget)
}

// parseWithin is ParseConfig with a budget.
func parseWithin(src []byte, filename string, start hcl.Pos, budget int) (*hcl.File, hcl.Diagnostics) {
	if diags := checkPieces(src, filename, start, budget); diags.HasErrors() {
		return nil, diags
	}
	file, diags := hclsyntax.ParseConfig(src, filename, start)
	if tooDeep := checkTree(src, file.Body.(*hclsyntax.Body)); tooDeep.HasErrors() {
		return nil, tooDeep
	}
	return file, diags
}

// ParseExpression is hclsyntax.ParseExpression for untrusted text. The expression is nil if it is
// nested too deeply.
func ParseExpression(src []byte, filename string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	if fitting(src, budget) < len(src) {
		attribute := slices.Concat([]byte("x = ("), src, []byte("\n)\n")) // in parentheses, because newlines are allowed
		if diags := checkPieces(attribute, filename, start, budget); diags.HasErrors() {
			return nil, tooDeep(hcl.Range{Filename: filename, Start: start}, true)
		}
	}
	expr, diags := hclsyntax.ParseExpression(src, filename, start)
	if tooDeep := checkTree(src, expr); tooDeep.HasErrors() {
		return nil, tooDeep
	}
	return expr, diags
}

// fitting returns the length of the longest prefix of src that is within a budget. It counts
// every byte that can be part of a token that opens a level, even if it is part of a text. So the
// tokens never weigh more than fitting counts.
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

// checkPieces returns diagnostics if src might be too deep for the parser. If src exceeds the
// budget, it is parsed in pieces.
func checkPieces(src []byte, filename string, start hcl.Pos, budget int) hcl.Diagnostics {
	if fitting(src, budget) == len(src) {
		return nil
	}
	c := checker{filename: filename, budget: budget, effort: effortPerByte*len(src) + 1<<20}
	for len(src) > 0 {
		end, diags := nextPiece(src, filename, start, budget)
		if diags.HasErrors() {
			return diags
		}
		length := end.Byte - start.Byte
		if diags = c.check(src[:length], start); diags.HasErrors() {
			return diags
		}
		src, start = src[length:], end
	}
	return nil
}

// nextPiece returns the end of the attributes and blocks at the beginning of src that together
// are within the budget. It always returns at least one of them.
//
// It uses the lexer, which is not recursive and whose tokens do not depend on the parser.
func nextPiece(src []byte, filename string, start hcl.Pos, budget int) (hcl.Pos, hcl.Diagnostics) {
	for limit := 2 * budget; ; limit *= 2 {
		text := src[:fitting(src, limit)]
		end, weight, depth := start, 0, 0
		all := len(text) == len(src)
		tokens, _ := hclsyntax.LexConfig(text, filename, start) // the parser will find the same errors
		if !all {
			tokens = beforeOpenComment(tokens)
		}
		for _, token := range tokens {
			change, tokenWeight := level(token.Type)
			depth += change
			weight += tokenWeight
			switch {
			case depth > MaxDepth:
				return start, tooDeep(token.Range, false)
			case weight > budget && end != start:
				return end, nil
			case token.Type == hclsyntax.TokenEOF && all:
				return token.Range.End, nil
			case depth <= 0 && endsLine(token) && !bytes.HasPrefix(src[token.Range.End.Byte-start.Byte:], byteOrderMark):
				end = token.Range.End
			}
		}
		if end != start {
			return end, nil
		}
	}
}

// byteOrderMark is an error except at the beginning of a file, so no piece may begin with one.
var byteOrderMark = []byte("\ufeff")

// beforeOpenComment returns the tokens before a comment that continues after the end of the text.
// The lexer returns the beginning of such a comment as two adjacent operators, which occur
// nowhere else.
func beforeOpenComment(tokens hclsyntax.Tokens) hclsyntax.Tokens {
	for i := 1; i < len(tokens); i++ {
		slash, star := tokens[i-1], tokens[i]
		if slash.Type == hclsyntax.TokenSlash && star.Type == hclsyntax.TokenStar && slash.Range.End == star.Range.Start {
			return tokens[:i-1]
		}
	}
	return tokens
}

// level returns the change in the depth of brackets that a token causes, and the token's weight.
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

// endsLine reports whether a token ends a line. A comment includes the end of its line.
func endsLine(token hclsyntax.Token) bool {
	return token.Type == hclsyntax.TokenNewline ||
		token.Type == hclsyntax.TokenComment && bytes.HasSuffix(token.Bytes, []byte("\n"))
}
