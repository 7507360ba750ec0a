package nesting

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// DefaultLimit is the nesting allowed in files that others wrote. Real files
// stay below 20; the parser's stack ends between 40,000 and 160,000.
const DefaultLimit = 200

// MaxLimit is the largest limit that the checks take; larger ones count as
// this one. It bounds the scanner's own stack, which is an array.
const MaxLimit = 500

// ChainFactor times the nesting limit is how many binary operators and indexes
// one expression may hold in a row.
const ChainFactor = 20

// DepthError says where a file goes beyond the limit.
type DepthError struct {
	Line   int // 1-based
	Column int // 1-based, in characters
	Limit  int
}

func (e *DepthError) Error() string {
	return fmt.Sprintf("line %d, column %d: nested more than %d levels deep", e.Line, e.Column, e.Limit)
}

// SyntaxError says where a file stops being well-formed, with so much behind
// it that the parser's own attempt to continue could exhaust the stack.
type SyntaxError struct {
	Line   int // 1-based
	Column int // 1-based, in characters
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: syntax error, and too many brackets behind it to continue", e.Line, e.Column)
}

// position is the line and column of the byte at offset.
func position(src []byte, offset int) (line, column int) {
	before := src[:min(offset, len(src))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}

// A parser in recovery may take every opening byte of the rest as a level. The
// weights follow the stack that one level takes: a bracket about 25 kB, a
// unary operator an eighth of that. With the default limit the worst file
// needs a tenth of Go's stack.
const (
	bracketWeight  = 8
	unaryWeight    = 1
	recoveryFactor = 20 * bracketWeight
)

// afterSyntaxError decides whether the parser may see src although the bytes
// from offset on do not follow the grammar. It looks at bytes, not at tokens:
// what is a token behind an error is anyone's guess.
func afterSyntaxError(src []byte, offset, limit int) error {
	weight := 0
	for _, b := range src[min(offset, len(src)):] {
		switch b {
		case '(', '[', '{', '?':
			weight += bracketWeight
		case '-', '!':
			weight += unaryWeight
		}
	}
	if weight <= recoveryFactor*limit {
		return nil
	}
	line, column := position(src, offset)
	return &SyntaxError{Line: line, Column: column}
}

func clampLimit(limit int) int { return max(0, min(limit, MaxLimit)) }
