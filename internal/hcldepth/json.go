package hcldepth

import (
	"encoding/json"
	"errors"

	"github.com/hashicorp/hcl/v2"
	hcljson "github.com/hashicorp/hcl/v2/json"
)

// ParseJSON is the Parse function of hcl/v2/json for untrusted files. The file is nil if
// [CheckJSON] returns an error, which is the Extra of the diagnostic.
func ParseJSON(src []byte, filename string) (*hcl.File, hcl.Diagnostics) {
	err := CheckJSON(src)
	if err == nil {
		return hcljson.Parse(src, filename)
	}
	at := hcl.Range{Filename: filename}
	if deep, ok := errors.AsType[*DepthError](err); ok {
		at.Start = hcl.Pos{Line: deep.Line, Column: deep.Column}
		return nil, tooDeep(at, deep.TooLarge)
	}
	syntax, _ := errors.AsType[*SyntaxError](err)
	at.Start = hcl.Pos{Line: syntax.Line, Column: syntax.Column}
	at.End = at.Start
	return nil, hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Invalid JSON",
		Detail:   "The file was not read: " + err.Error() + ".",
		Subject:  &at,
		Extra:    err,
	}}
}

// CheckJSON returns a [*DepthError] if more than [MaxDepth] objects and arrays are open at once.
// It returns a [*SyntaxError] if src has a syntax error and also too many brackets for HCL's
// parser. A nil error means that src is safe to parse, not that it is valid.
func CheckJSON(src []byte) error {
	brackets := 0 // including those in strings, because after an error the parser may confuse strings and other text
	depth, inString := 0, false
	for i := 0; i < len(src); i++ {
		b := src[i]
		if b == '{' || b == '[' {
			brackets++
		}
		switch {
		case b == '"':
			inString = !inString
		case b == '\\' && inString:
			i++
		case inString:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		}
		if depth > MaxDepth {
			line, column := position(src, i)
			return &DepthError{Line: line, Column: column}
		}
	}
	if brackets*bracketWeight <= budget || json.Valid(src) {
		return nil
	}
	return invalidJSON(src)
}

// invalidJSON returns an error with the place of the first syntax error in src.
func invalidJSON(src []byte) error {
	var none struct{}
	offset := len(src)
	if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(src, &none)); ok {
		offset = max(0, int(syntax.Offset)-1)
	}
	line, column := position(src, offset)
	return &SyntaxError{Line: line, Column: column}
}
