package hcldepth

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// MaxDepth is the maximum number of nested levels in a file.
const MaxDepth = 200

// DepthError reports where a source text is nested too deeply.
type DepthError struct {
	Line   int // 1-based
	Column int // 1-based, in characters

	// TooLarge reports whether the text was not parsed because a single attribute or block has too
	// many brackets and operators for the parser. If it is false, there are more than MaxDepth
	// levels.
	TooLarge bool
}

func (e *DepthError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.problem())
}

func (e *DepthError) problem() string {
	if e.TooLarge {
		return fmt.Sprintf("an attribute or block with more than %d brackets is too deeply nested or too large", budget/bracketWeight)
	}
	return fmt.Sprintf("nested more than %d levels deep", MaxDepth)
}

// SyntaxError reports the place of a syntax error in a JSON text that was not parsed, because it
// has so many brackets that the parser's recovery could exhaust the stack.
type SyntaxError struct {
	Line   int // 1-based
	Column int // 1-based, in characters
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: syntax error", e.Line, e.Column)
}

// tooDeep returns the diagnostics for a [*DepthError], which is their Extra.
func tooDeep(at hcl.Range, tooLarge bool) hcl.Diagnostics {
	err := &DepthError{Line: at.Start.Line, Column: at.Start.Column, TooLarge: tooLarge}
	at.End = at.Start
	return hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Configuration nested too deeply",
		Detail:   fmt.Sprintf("The file was not read: %s.", err),
		Subject:  &at,
		Extra:    err,
	}}
}

// position returns the line and column of the byte at offset.
func position(src []byte, offset int) (line, column int) {
	before := src[:min(offset, len(src))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}
