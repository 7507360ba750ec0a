package hcldepth

import (
	"bytes"

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

// ParseConfig is hclsyntax.ParseConfig for files that others wrote. The file is
// nil if it is nested too deeply, or if it is beyond the budget and has a syntax
// error.
func ParseConfig(src []byte, filename string, start hcl.Pos) (*hcl.File, hcl.Diagnostics) {
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
	if weigh(src) > budget {
		return nil, tooDeep(hcl.Range{Filename: filename, Start: start}, true)
	}
	expr, diags := hclsyntax.ParseExpression(src, filename, start)
	if tooDeep := checkTree(src, expr); tooDeep.HasErrors() {
		return nil, tooDeep
	}
	return expr, diags
}

// weigh returns the weight of all bytes that can be part of a token which opens
// a level. That is at least the weight of these tokens.
func weigh(src []byte) int {
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
	}
	return weight
}

// checkPieces returns diagnostics if src might be too deep for the parser. A
// source text beyond the budget is parsed in pieces of whole items; an item is an
// attribute or a block, or an empty line.
func checkPieces(src []byte, filename string, start hcl.Pos, budget int) hcl.Diagnostics {
	if weigh(src) <= budget {
		return nil
	}
	// The lexer is not recursive. Its tokens do not depend on what the parser
	// makes of them.
	tokens, diags := hclsyntax.LexConfig(src, filename, start)
	if diags.HasErrors() {
		return diags
	}
	piece, item := start, start // their first bytes
	pieceWeight, itemWeight, depth := 0, 0, 0
	parsePiece := func() hcl.Diagnostics {
		_, diags := hclsyntax.ParseConfig(src[piece.Byte-start.Byte:item.Byte-start.Byte], filename, piece)
		piece, pieceWeight = item, 0
		if diags.HasErrors() {
			return diags[:1] // the others follow from it
		}
		return nil
	}
	for _, token := range tokens {
		change, weight := level(token.Type)
		depth += change
		itemWeight += weight
		switch {
		case depth > MaxDepth:
			return tooDeep(token.Range, false)
		case itemWeight > budget:
			return tooDeep(hcl.Range{Filename: filename, Start: item}, true)
		case token.Type != hclsyntax.TokenEOF && (depth > 0 || !endsLine(token)):
			continue
		}
		if pieceWeight+itemWeight > budget {
			if diags := parsePiece(); diags.HasErrors() {
				return diags
			}
		}
		pieceWeight += itemWeight
		item, itemWeight = token.Range.End, 0
	}
	return parsePiece()
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
