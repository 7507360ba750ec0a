package hcldepth

import (
	"bytes"
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// The weights correspond to the parser's use of the stack: up to 15 kB for a bracket, and up to
// 2.3 kB for an operator.
const (
	bracketWeight  = 8
	operatorWeight = 1
	budget         = 1_500 * bracketWeight
)

// effortPerByte is the maximum number of times that each byte of a file is parsed, on average.
const effortPerByte = 8

// ParseConfig is hclsyntax.ParseConfig for untrusted files. The file is nil if parsing it would
// take too much memory or time, if it is nested too deeply, if it exceeds the budget and has a
// syntax error, or if ctx was done before it was parsed. The Extra of the diagnostic is then a
// [*SizeError], a [*DepthError], or the error of ctx.
func ParseConfig(ctx context.Context, src []byte, filename string, start hcl.Pos) (*hcl.File, hcl.Diagnostics) {
	return parseWithin(ctx, src, filename, start, budget)
}

// parseWithin is ParseConfig with a budget.
func parseWithin(ctx context.Context, src []byte, filename string, start hcl.Pos, budget int) (*hcl.File, hcl.Diagnostics) {
	release, diags := reserve(ctx, src, filename)
	if diags.HasErrors() {
		return nil, diags
	}
	defer release()
	if diags := checkTokens(ctx, src, filename, start); diags.HasErrors() {
		return nil, diags
	}
	if diags := checkPieces(ctx, src, filename, start, budget); diags.HasErrors() {
		return nil, diags
	}
	file, diags := hclsyntax.ParseConfig(src, filename, start)
	if tooDeep := checkTree(src, file.Body.(*hclsyntax.Body)); tooDeep.HasErrors() {
		return nil, tooDeep
	}
	return file, diags
}

// ParseExpression is hclsyntax.ParseExpression for untrusted text. The expression is nil if it
// exceeds a limit of [ParseConfig], or if ctx is done.
func ParseExpression(ctx context.Context, src []byte, filename string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	release, diags := reserve(ctx, src, filename)
	if diags.HasErrors() {
		return nil, diags
	}
	defer release()
	if diags := checkTokens(ctx, src, filename, start); diags.HasErrors() {
		return nil, diags
	}
	if fitting(src, budget) < len(src) {
		attribute := slices.Concat([]byte("x = ("), src, []byte("\n)\n")) // in parentheses, because newlines are allowed
		if diags := checkPieces(ctx, attribute, filename, start, budget); diags.HasErrors() {
			if err := ctx.Err(); err != nil {
				return nil, interrupted(filename, err)
			}
			return nil, tooDeep(hcl.Range{Filename: filename, Start: start}, true)
		}
	}
	expr, diags := hclsyntax.ParseExpression(src, filename, start)
	if tooDeep := checkTree(src, expr); tooDeep.HasErrors() {
		return nil, tooDeep
	}
	return expr, diags
}

// MaxTemplate is the maximum length in bytes of a template.
const MaxTemplate = 4 << 10

// ParseTemplate is hclsyntax.ParseTemplate for untrusted text. The expression is nil if the text is
// longer than [MaxTemplate], if it has so many brackets and operators that it could be nested too
// deeply, or if ctx is done.
func ParseTemplate(ctx context.Context, src []byte, filename string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	release, diags := reserve(ctx, src, filename)
	if diags.HasErrors() {
		return nil, diags
	}
	defer release()
	if fitting(src, budget) < len(src) {
		return nil, tooDeep(hcl.Range{Filename: filename, Start: start}, true)
	}
	if len(src) > MaxTemplate {
		return nil, tooLarge(hcl.Range{Filename: filename, Start: start}, &SizeError{Line: start.Line, Column: start.Column, Unit: Bytes, Limit: MaxTemplate, Count: len(src)})
	}
	return hclsyntax.ParseTemplate(src, filename, start)
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
func checkPieces(ctx context.Context, src []byte, filename string, start hcl.Pos, budget int) hcl.Diagnostics {
	if fitting(src, budget) == len(src) {
		return nil
	}
	c := checker{ctx: ctx, filename: filename, budget: budget, effort: effortPerByte*len(src) + 1<<20}
	ends, tooDeep := pieces(src, filename, start, budget)
	for _, end := range ends {
		length := end.Byte - start.Byte
		if diags := c.check(src[:length], start); diags.HasErrors() {
			return diags
		}
		src, start = src[length:], end
	}
	return tooDeep
}

// pieces returns where the pieces of src end. A piece is one or more attributes and blocks that
// together are within the budget, or a single one that is not. If the brackets of a piece are
// nested too deeply, pieces returns a diagnostic and the pieces before it.
//
// It uses the lexer, which is not recursive and whose tokens do not depend on the parser.
func pieces(src []byte, filename string, start hcl.Pos, budget int) ([]hcl.Pos, hcl.Diagnostics) {
	var ends []hcl.Pos
	tokens, _ := hclsyntax.LexConfig(src, filename, start) // the parser will find the same errors
	first, end := start, start                             // of the piece, as far as it is known
	weight, depth := 0, 0                                  // of the tokens since first
	weightAtEnd, depthAtEnd := 0, 0
	for _, token := range tokens {
		change, tokenWeight := level(token.Type)
		depth += change
		weight += tokenWeight
		if depth > MaxDepth {
			return ends, tooDeep(token.Range, false)
		}
		if weight > budget && end != first {
			ends, first = append(ends, end), end
			weight, depth = weight-weightAtEnd, depth-depthAtEnd
		}
		if depth <= 0 && endsLine(token) && !bytes.HasPrefix(src[token.Range.End.Byte-start.Byte:], byteOrderMark) {
			end, weightAtEnd, depthAtEnd = token.Range.End, weight, depth
		}
	}
	return append(ends, tokens[len(tokens)-1].Range.End), nil
}

// byteOrderMark is an error except at the beginning of a file, so no piece may begin with one.
var byteOrderMark = []byte("\ufeff")

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
