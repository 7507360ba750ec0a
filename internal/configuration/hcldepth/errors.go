package hcldepth

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// MaxDepth is the maximum number of nested levels, so that evaluating is safe. The deepest real file that we
// found has 31.
const MaxDepth = 200

// DepthError reports where a source text is nested too deeply.
type DepthError struct {
	Line   int // 1-based
	Column int // 1-based, in characters

	// TooLarge says that a single attribute or block has too many brackets and operators for the parser.
	// Otherwise there are more than MaxDepth levels.
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

// Unit is what a [SizeError] counts.
type Unit int

const (
	// Tokens are names, numbers, operators, brackets, quotes, parts of strings, escapes, comments
	// and ends of lines.
	Tokens Unit = iota
	// JoinedBytes are those that are copied to join the parts of one string or name, such as the lines of
	// a heredoc.
	JoinedBytes
	Digits // of one number
	Bytes  // of a template
)

// SizeError reports that parsing a source text would take too much memory or time.
type SizeError struct {
	Line   int // 1-based, where the limit is exceeded
	Column int // 1-based, in characters
	Unit   Unit
	Limit  int
	Count  int // that of the text; at most this if Unit is Tokens
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.problem())
}

func (e *SizeError) problem() string {
	switch e.Unit {
	case JoinedBytes:
		return fmt.Sprintf("a string or name has so many lines or parts that joining them would copy %d bytes; the limit is %d", e.Count, e.Limit)
	case Bytes:
		return fmt.Sprintf("a template has %d bytes; the limit is %d", e.Count, e.Limit)
	case Digits:
		return fmt.Sprintf("a number has %d digits; the limit is %d", e.Count, e.Limit)
	}
	return fmt.Sprintf("the text has about %d tokens (names, values, operators, brackets, line ends), and the limit of %d is exceeded here", e.Count, e.Limit)
}

// failure makes the error the Extra of the diagnostics.
func failure(at hcl.Range, summary string, err error) hcl.Diagnostics {
	at.End = at.Start
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf("The file was not read: %s.", err), Subject: &at, Extra: err}}
}

func tooLarge(at hcl.Range, err *SizeError) hcl.Diagnostics {
	return failure(at, "Configuration too large", err)
}

func tooDeep(at hcl.Range, tooLarge bool) hcl.Diagnostics {
	return failure(at, "Configuration nested too deeply", &DepthError{Line: at.Start.Line, Column: at.Start.Column, TooLarge: tooLarge})
}

func interrupted(filename string, err error) hcl.Diagnostics {
	diags := failure(hcl.Range{Filename: filename, Start: hcl.InitialPos}, "Reading was interrupted", err)
	diags[0].Detail = fmt.Sprintf("Reading %q was stopped: %s.", filename, err)
	return diags
}

// SyntaxError is about a JSON text that was not parsed: it has so many brackets that the parser's recovery
// could exhaust the stack.
type SyntaxError struct {
	Line   int // 1-based
	Column int // 1-based, in characters
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: syntax error", e.Line, e.Column)
}

func position(src []byte, offset int) (line, column int) {
	before := src[:min(offset, len(src))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}
