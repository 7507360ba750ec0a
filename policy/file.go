package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
)

// FileName is the name of the file in a repository with a project's policy and settings.
const FileName = "cotter.hcl"

// MaxSize is the maximum size of a file with a policy or settings, in bytes.
const MaxSize = 1 << 20

// FileError says that a file with a policy or settings is invalid.
type FileError struct {
	File        string
	Diagnostics hcl.Diagnostics
}

// Error returns all errors, one a line.
func (e *FileError) Error() string { return hcldepth.ErrorText(e.Diagnostics) }
func (e *FileError) Unwrap() error { return e.Diagnostics }

var mirrorHeader = hcl.BlockHeaderSchema{Type: "mirror", LabelNames: []string{"address"}}

// part is a part of a file that is read on its own, and the summary of its diagnostics.
type part string

const (
	policyPart   part = "Invalid policy"
	settingsPart part = "Invalid settings"
	replacePart  part = "Invalid replacement"
)

func (p part) failure(at hcl.Range, format string, args ...any) hcl.Diagnostics {
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: string(p), Detail: fmt.Sprintf(format, args...), Subject: &at}}
}

// read returns the blocks of the given types and the rest of a file's body; none if there are errors.
func (p part) read(src []byte, filename string, types ...hcl.BlockHeaderSchema) (blocks hcl.Blocks, rest hcl.Body, diags hcl.Diagnostics) {
	if len(src) > MaxSize {
		return nil, nil, p.failure(hcl.Range{Filename: filename}, "The file has more than %d bytes.", MaxSize)
	}
	file, diags := hcldepth.ParseConfig(context.Background(), src, filename, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	content, rest, diags := file.Body.PartialContent(&hcl.BodySchema{Blocks: types})
	return content.Blocks, rest, diags
}

// arguments maps names to the functions that set the values.
type arguments map[string]func(cty.Value) error

func (p part) readBlock(blocks hcl.Blocks, to arguments) (map[string]hcl.Range, hcl.Diagnostics) {
	at := map[string]hcl.Range{}
	for i, block := range blocks {
		if i > 0 {
			return nil, p.failure(block.DefRange, "A file has only one %s block; the first is on line %d.", block.Type, blocks[0].DefRange.Start.Line)
		}
		var diags hcl.Diagnostics
		if at, diags = p.readArguments(block.Body, to); diags.HasErrors() {
			return nil, diags
		}
	}
	return at, nil
}

// readArguments reads the arguments of a body, and returns where they are. Anything else is an error.
func (p part) readArguments(body hcl.Body, to arguments) (map[string]hcl.Range, hcl.Diagnostics) {
	schema := &hcl.BodySchema{}
	names := slices.Sorted(maps.Keys(to))
	for _, name := range names {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name})
	}
	content, diags := body.Content(schema)
	at := map[string]hcl.Range{}
	for _, name := range names {
		attribute, given := content.Attributes[name]
		if !given {
			continue
		}
		value, problems := attribute.Expr.Value(nil)
		if !problems.HasErrors() {
			if err := to[name](value); err != nil {
				problems = p.failure(attribute.Expr.Range(), "%s: %s.", name, err)
			}
		}
		diags = append(diags, problems...)
		at[name] = attribute.Range
	}
	return at, diags
}

func choice[T any](to *T, words map[string]T) func(cty.Value) error {
	return func(value cty.Value) error {
		if text, err := stringOf(value); err == nil {
			if meaning, known := words[text]; known {
				*to = meaning
				return nil
			}
		}
		return fmt.Errorf("it must be one of %q", slices.Sorted(maps.Keys(words)))
	}
}

// list returns the function for a list of at least so many elements; what describes it in messages.
func list[T any](to *[]T, least int, what string, parse func(cty.Value) (T, error)) func(cty.Value) error {
	return func(value cty.Value) error {
		if value.IsNull() || !value.Type().IsTupleType() || value.LengthInt() < least {
			return fmt.Errorf("it must be a list of %s", what)
		}
		*to = make([]T, 0, value.LengthInt())
		for _, element := range value.AsValueSlice() {
			parsed, err := parse(element)
			if err != nil {
				return err
			}
			*to = append(*to, parsed)
		}
		return nil
	}
}

func parsed[T any](what string, parse func(string) (T, error)) func(cty.Value) (T, error) {
	return func(value cty.Value) (none T, err error) {
		text, err := stringOf(value)
		if err != nil {
			return none, fmt.Errorf("each %s must be a string", what)
		}
		return parse(text)
	}
}

func boolean(to *bool) func(cty.Value) error {
	return func(value cty.Value) error {
		if value.IsNull() || value.Type() != cty.Bool {
			return errors.New("it must be true or false")
		}
		*to = value.True()
		return nil
	}
}

func stringOf(value cty.Value) (string, error) {
	if value.IsNull() || value.Type() != cty.String {
		return "", errors.New("it must be a string")
	}
	return value.AsString(), nil
}
