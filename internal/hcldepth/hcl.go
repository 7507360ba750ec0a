package hcldepth

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// The weights follow the parser's stack: up to 15 kB for a bracket, up to 2.3 kB
// for an operator.
const (
	bracketWeight  = 8
	operatorWeight = 1
	budget         = 6_000 * bracketWeight
)

// effortPerByte is how often the bytes of a file are parsed at most, on average.
const effortPerByte = 8

// ParseConfig is hclsyntax.ParseConfig for files that others wrote. The file is
// nil if it is nested too deeply, or if it is beyond the budget and has a syntax
// error.
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

// ParseExpression is hclsyntax.ParseExpression for text that others wrote. The
// expression is nil if it is nested too deeply.
func ParseExpression(src []byte, filename string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	if fitting(src, budget) < len(src) {
		attribute := slices.Concat([]byte("x = ("), src, []byte("\n)\n")) // brackets, as newlines are allowed
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

// fitting returns the length of the longest start of src that is within a budget.
// It counts all bytes that can be part of a token which opens a level, also where
// they are text, so the tokens weigh no more than that.
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

// checkPieces returns diagnostics if src might be too deep for the parser. If src
// is beyond the budget, it is parsed in pieces.
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

// nextPiece returns the end of the attributes and blocks at the beginning of src
// that are within the budget together. It is at least one of them.
//
// It uses the lexer, which is not recursive, and whose tokens do not depend on
// what the parser makes of them.
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

// byteOrderMark is an error anywhere but at the beginning of a file. So no piece
// may begin with one.
var byteOrderMark = []byte("\ufeff")

// beforeOpenComment returns the tokens before a comment that goes on behind the
// text. The lexer makes operators of its beginning, which are next to each other
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

// level returns by how much a token changes the depth of brackets, and its
// weight.
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

// endsLine reports whether a token ends a line. A comment holds the line's end.
func endsLine(token hclsyntax.Token) bool {
	return token.Type == hclsyntax.TokenNewline ||
		token.Type == hclsyntax.TokenComment && bytes.HasSuffix(token.Bytes, []byte("\n"))
}
