package configread

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// exprText returns the text of an expression in one line, without comments. It is equal for expressions
// that differ only in white space, or in commas and line breaks between the elements of lists and objects.
func exprText(expr hcl.Expression, src []byte) string {
	rng := expr.Range()
	if !rng.CanSliceBytes(src) {
		return ""
	}
	tokens, _ := hclsyntax.LexExpression(rng.SliceBytes(src), rng.Filename, rng.Start)
	var line oneLine
	for _, token := range tokens {
		line.add(token)
	}
	return strings.ReplaceAll(line.text.String(), "\n", `\n`) // in heredocs
}

type oneLine struct {
	text strings.Builder
	last hclsyntax.TokenType // 0 before the first one
	// separated says that a comma, or a line break that stands for one, was read.
	separated bool
	open      []hclsyntax.TokenType
}

func (l *oneLine) add(token hclsyntax.Token) {
	switch token.Type {
	case hclsyntax.TokenComment, hclsyntax.TokenNewline:
		if n := len(l.open); n > 0 && l.open[n-1] == hclsyntax.TokenOBrace {
			l.separated = true // between the elements of an object
		}
		return
	case hclsyntax.TokenComma:
		l.separated = true
		return
	case hclsyntax.TokenEOF:
		return
	case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		defer func() { l.open = append(l.open, token.Type) }()
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
		l.open = l.open[:max(0, len(l.open)-1)]
	}
	switch {
	case l.separated && !opens(l.last) && !closes(token.Type):
		l.text.WriteString(", ")
	case l.last != 0 && !joined(l.last, token.Type):
		l.text.WriteByte(' ')
	}
	l.separated, l.last = false, token.Type
	l.text.Write(token.Bytes)
}

func opens(t hclsyntax.TokenType) bool {
	return t == 0 || t == hclsyntax.TokenOBrace || t == hclsyntax.TokenOBrack || t == hclsyntax.TokenOParen
}

func closes(t hclsyntax.TokenType) bool {
	return t == hclsyntax.TokenCBrace || t == hclsyntax.TokenCBrack || t == hclsyntax.TokenCParen
}

func joined(before, after hclsyntax.TokenType) bool {
	if opens(before) || closes(after) {
		return true
	}
	switch before {
	case hclsyntax.TokenOQuote, hclsyntax.TokenQuotedLit, hclsyntax.TokenOHeredoc, hclsyntax.TokenStringLit, hclsyntax.TokenTemplateInterp,
		hclsyntax.TokenTemplateControl, hclsyntax.TokenDot, hclsyntax.TokenBang:
		return true
	case hclsyntax.TokenIdent, hclsyntax.TokenCBrack, hclsyntax.TokenCParen:
		if after == hclsyntax.TokenOParen || after == hclsyntax.TokenOBrack {
			return true
		}
	case hclsyntax.TokenTemplateSeqEnd:
		return after == hclsyntax.TokenQuotedLit || after == hclsyntax.TokenStringLit || after == hclsyntax.TokenCQuote ||
			after == hclsyntax.TokenTemplateInterp || after == hclsyntax.TokenTemplateControl
	}
	switch after {
	case hclsyntax.TokenCQuote, hclsyntax.TokenQuotedLit, hclsyntax.TokenCHeredoc, hclsyntax.TokenStringLit, hclsyntax.TokenTemplateSeqEnd,
		hclsyntax.TokenDot, hclsyntax.TokenColon:
		return true
	}
	return false
}
