package hcldepth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/apparentlymart/go-textseg/v15/textseg"
	"github.com/hashicorp/hcl/v2"
	hcljson "github.com/hashicorp/hcl/v2/json"
)

// ParseJSON is the Parse function of hcl/v2/json for untrusted files. The file is nil if [CheckJSON] returns
// an error with [MaxTokens], which is the Extra of the diagnostic, or if ctx is done first.
func ParseJSON(ctx context.Context, src []byte, filename string) (*hcl.File, hcl.Diagnostics) {
	release, diags := reserve(ctx, src, filename)
	if diags.HasErrors() {
		return nil, diags
	}
	defer release()
	at := func(line, column int) hcl.Range {
		return hcl.Range{Filename: filename, Start: hcl.Pos{Line: line, Column: column}}
	}
	err := CheckJSON(src, MaxTokens)
	if large, ok := errors.AsType[*SizeError](err); ok {
		return nil, tooLarge(at(large.Line, large.Column), large)
	}
	if deep, ok := errors.AsType[*DepthError](err); ok {
		return nil, tooDeep(at(deep.Line, deep.Column), deep.TooLarge)
	}
	if invalid, ok := errors.AsType[*SyntaxError](err); ok {
		return nil, failure(at(invalid.Line, invalid.Column), "Invalid JSON", invalid)
	}
	return hcljson.Parse(src, filename)
}

// CheckJSON returns a [*DepthError] if more than [MaxDepth] objects and arrays are open at once, a
// [*SizeError] if src has more than maxTokens tokens or too long a number, and a [*SyntaxError] if src has
// one and also too many brackets for HCL's parser. Otherwise src is safe to parse, but may be invalid. A
// string that may be parsed as a template counts as the tokens of that.
func CheckJSON(src []byte, maxTokens int) error {
	s := jsonScanner{src: src}
	for s.pos < len(src) {
		s.next()
		switch {
		case s.depth > MaxDepth:
			line, column := position(src, s.pos-1)
			return &DepthError{Line: line, Column: column}
		case s.tokens > maxTokens:
			line, column := position(src, s.pos-1)
			return &SizeError{Line: line, Column: column, Unit: Tokens, Limit: maxTokens, Count: s.tokens + CountTokens(src[s.pos:])}
		case s.digits > maxDigits:
			line, column := position(src, s.pos-1)
			return &SizeError{Line: line, Column: column, Unit: Digits, Limit: maxDigits, Count: s.digits}
		}
	}
	if s.brackets*bracketWeight <= budget {
		return nil
	}
	if s.ambiguous {
		return &DepthError{Line: 1, Column: 1, TooLarge: true}
	}
	if json.Valid(src) {
		return nil
	}
	return invalidJSON(src)
}

// A jsonScanner finds the tokens of a JSON text as HCL's scanner does.
type jsonScanner struct {
	src           []byte
	pos           int
	tokens, depth int
	digits        int // of the last number
	// brackets counts those in strings too: after an error, the parser may confuse strings and other text.
	brackets int
	// ambiguous says that HCL's scanner and others disagree about the end of a string: HCL's takes a quote
	// for a part of the character before it if Unicode says that both are one grapheme. Everything after
	// it counts as code.
	ambiguous bool
}

func (s *jsonScanner) next() {
	b := s.src[s.pos]
	start := s.pos
	s.pos++
	switch {
	case b == ' ' || b == '\t' || b == '\r' || b == '\n':
		return
	case b == '{' || b == '[':
		s.brackets++
		s.depth++
	case b == '}' || b == ']':
		s.depth--
	case b == '"' && !s.ambiguous:
		s.text()
		if text := s.src[start:s.pos]; isTemplate(text) {
			s.tokens += CountTokens(text)
		}
	case isDigit(b) && b != 'e' && b != 'E':
		for s.pos < len(s.src) && isDigit(s.src[s.pos]) {
			s.pos++
		}
		s.digits = s.pos - start
	case isLetter(b):
		for s.pos < len(s.src) && isLetter(s.src[s.pos]) {
			s.pos++
		}
	}
	s.tokens++
}

func (s *jsonScanner) text() {
	escaped := false
	for s.pos < len(s.src) {
		b := s.src[s.pos]
		if b < ' ' {
			return // HCL's scanner ends the string here, and other parsers fail
		}
		s.pos++
		switch {
		case b == '\\':
			escaped = !escaped
			continue
		case b == '"' && !escaped:
			return
		case b == '{' || b == '[':
			s.brackets++
		case b >= 0x80:
			cluster, _, _ := textseg.ScanGraphemeClusters(s.src[s.pos-1:], true) // cannot fail
			if bytes.IndexByte(s.src[s.pos-1:s.pos-1+cluster], '"') >= 0 {
				s.ambiguous = true
				return
			}
			s.pos += cluster - 1
		}
		escaped = false
	}
}

func isDigit(b byte) bool {
	return '0' <= b && b <= '9' || b == '-' || b == '+' || b == '.' || b == 'e' || b == 'E'
}

func isLetter(b byte) bool { return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b == '_' }

// isTemplate allows for escapes of six bytes that stand for one byte of a template.
func isTemplate(text []byte) bool {
	return len(text) <= 6*MaxTemplate+2 &&
		(bytes.Contains(text, []byte("${")) || bytes.Contains(text, []byte("%{")) || bytes.Contains(text, []byte(`\u`)))
}

func invalidJSON(src []byte) error {
	var none struct{}
	offset := len(src)
	if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(src, &none)); ok {
		offset = max(0, int(syntax.Offset)-1)
	}
	line, column := position(src, offset)
	return &SyntaxError{Line: line, Column: column}
}
