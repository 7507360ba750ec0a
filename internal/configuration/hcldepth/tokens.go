package hcldepth

import (
	"bytes"
	"context"
	"math"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/sync/semaphore"
)

// MaxTokens is the maximum number of tokens in a text that is parsed at once. Escapes in strings count as
// well, and invalid characters twice, because each can cause a diagnostic.
//
// At the limit, the parser takes about 150 MiB, including garbage. A lock with 500 modules, and 60 providers
// for 15 platforms, has 37,000 tokens in 320 KiB. Values of a variable with 5,000 users of three attributes
// have 150,000 tokens in 560 KiB.
const MaxTokens = 250_000

const (
	// maxCeiling is the upper bound of the number of tokens above which a text is not split into them, at
	// 100 bytes each. For real files, the bound is up to 1.5 times the number.
	maxCeiling = MaxTokens * 6 / 5
	// maxJoined limits the bytes that the parser copies for a string or name of many parts: for each line of
	// a heredoc, everything before it. The limit is 17,000 lines of 40 bytes, which take about a second.
	maxJoined = 1 << 34
	// partBytes is the size of an element in the list of the parts, which is copied as often.
	partBytes = 16
	// maxDigits limits a number, because converting it takes quadratic time.
	maxDigits = 1 << 16
)

// checkTokens returns diagnostics if parsing src would take too much memory or time. Most texts are so small
// that a pass over their bytes is enough.
func checkTokens(src []byte, filename string, start hcl.Pos) hcl.Diagnostics {
	most, length := ceiling(src, maxCeiling)
	if length < len(src) {
		at := hcl.Range{Filename: filename}
		at.Start.Line, at.Start.Column = position(src, length)
		at.Start.Line += start.Line - 1
		return tooLarge(at, &SizeError{Line: at.Start.Line, Column: at.Start.Column, Unit: Tokens, Limit: MaxTokens, Count: CountTokens(src)})
	}
	if most <= MaxTokens && joined(most, len(src)) <= maxJoined && len(src) <= maxDigits {
		return nil
	}
	var c counter
	tokens, _ := hclsyntax.LexConfig(src, filename, start) // the parser will find the same errors
	for _, token := range tokens {
		c.add(token)
		if c.depth > MaxDepth {
			return tooDeep(token.Range, false)
		}
		if err := c.excess(); err != nil {
			err.Line, err.Column = token.Range.Start.Line, token.Range.Start.Column
			if err.Unit == Tokens {
				err.Count += CountTokens(src[token.Range.End.Byte-start.Byte:])
			}
			return tooLarge(token.Range, err)
		}
	}
	return nil
}

// CountTokens returns an upper bound of the number of tokens in src. Text in strings and comments counts as
// code.
func CountTokens(src []byte) int {
	tokens, _ := ceiling(src, math.MaxInt)
	return tokens
}

type counter struct {
	tokens int
	// kind, parts and length describe the string or name that is being read.
	kind          partKind
	last          hclsyntax.TokenType
	parts, length int
	digits        int // of the longest number
	depth         int // of brackets
}

// A partKind is a string or name that consists of several tokens.
type partKind byte

const (
	noPart partKind = iota
	partOfString
	partOfName
)

func kindOf(token hclsyntax.TokenType) partKind {
	switch token {
	case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit:
		return partOfString
	case hclsyntax.TokenIdent, hclsyntax.TokenDoubleColon:
		return partOfName
	}
	return noPart
}

func (c *counter) add(token hclsyntax.Token) {
	c.tokens++
	change, _ := level(token.Type)
	c.depth = max(0, c.depth+change)
	kind := kindOf(token.Type)
	if kind != c.kind || token.Type == hclsyntax.TokenIdent && c.last == hclsyntax.TokenIdent {
		c.kind, c.parts, c.length = kind, 0, 0
	}
	c.last = token.Type
	switch {
	case kind != noPart:
		c.parts++
		c.length += len(token.Bytes)
		if kind == partOfString {
			c.tokens += bytes.Count(token.Bytes, []byte{'\\'})
		}
	case token.Type == hclsyntax.TokenInvalid:
		c.tokens++
	case token.Type == hclsyntax.TokenNumberLit:
		c.digits = max(c.digits, len(token.Bytes))
	}
}

func (c *counter) excess() *SizeError {
	switch work := joined(c.parts, c.length); {
	case c.tokens > MaxTokens:
		return &SizeError{Unit: Tokens, Limit: MaxTokens, Count: c.tokens}
	case work > maxJoined:
		return &SizeError{Unit: JoinedBytes, Limit: maxJoined, Count: work}
	case c.digits > maxDigits:
		return &SizeError{Unit: Digits, Limit: maxDigits, Count: c.digits}
	}
	return nil
}

func joined(parts, length int) int { return parts * (length + partBytes*parts) }

// ceiling returns CountTokens for the longest prefix of src for which it is not above limit, and the length
// of that prefix. Escapes in strings count as tokens.
func ceiling(src []byte, limit int) (tokens, length int) {
	inWord := false
	for i, b := range src {
		count := 1
		switch {
		case 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b == '_':
			if inWord {
				continue
			}
			inWord = true
		case '0' <= b && b <= '9':
			if inWord {
				continue
			}
			inWord, count = true, 2 // a number, and a name after it
		case b == ' ' || b == '\t' || b == '#' && i > 0 && src[i-1] == '#': // two are in a comment or text
			inWord = false
			continue
		default:
			inWord = false
			next := byte(' ')
			if i+1 < len(src) {
				next = src[i+1]
			}
			if !alone(b, next) {
				count = 2
			}
		}
		if tokens+count > limit {
			return tokens, i
		}
		tokens += count
	}
	return tokens, len(src)
}

// alone reports whether a byte is at most one token. Text of blanks may follow others, or they may be
// invalid, which causes a diagnostic.
func alone(b, next byte) bool {
	switch b {
	case '{', '[', ']', '(', ')', '=', ',', '.', ':', '?', '!', '<', '>', '+', '-', '*', '/', '&', '|', '#':
		return true
	case '"', '}', '\n':
		return next != ' ' && next != '\t'
	}
	return false
}

// memory has a unit for each token that may be parsed at the same time, in the whole process, because it has
// one memory.
var memory = semaphore.NewWeighted(MaxTokens)

// reserve waits until src may be parsed. The caller must call release when it has been parsed.
func reserve(ctx context.Context, src []byte, filename string) (release func(), diags hcl.Diagnostics) {
	if err := ctx.Err(); err != nil {
		return nil, interrupted(filename, err)
	}
	most, _ := ceiling(src, MaxTokens)
	if err := memory.Acquire(ctx, int64(most)); err != nil {
		return nil, interrupted(filename, err)
	}
	return func() { memory.Release(int64(most)) }, nil
}
