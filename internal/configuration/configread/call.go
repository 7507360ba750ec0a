package configread

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/eval"
	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
)

type block struct {
	name            string
	header          hcl.Range
	source, version *hcl.Attribute // nil if absent
	// broken reports whether the file has syntax errors, because of which an argument may be missing.
	broken bool
}

func decodeBlocks(parsed hcl.Blocks, broken bool) ([]*block, hcl.Diagnostics) {
	var blocks []*block
	var diags hcl.Diagnostics
	for _, p := range parsed {
		name := p.Labels[0] // the schema asks for exactly one
		if !hclsyntax.ValidIdentifier(name) {
			diags = append(diags, fault(p.LabelRanges[0], "Invalid module instance name",
				"%q cannot be the name of a module call: it must begin with a letter or an underscore and may hold only letters, digits, underscores and dashes.", name))
			continue
		}
		content, _, bodyDiags := p.Body.PartialContent(moduleSchema)
		diags = append(diags, bodyDiags...)
		blocks = append(blocks, &block{
			name:    name,
			header:  p.DefRange,
			source:  content.Attributes["source"],
			version: content.Attributes["version"],
			broken:  broken || bodyDiags.HasErrors(),
		})
	}
	return blocks, diags
}

type blockSet struct {
	blocks []*block
	byName map[string]*block
}

// add keeps the first of two blocks with the same name. Blocks of override files, of which several may
// be for one call, change those that were added before.
func (s *blockSet) add(blocks []*block, override bool) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if s.byName == nil {
		s.byName = make(map[string]*block)
	}
	for _, b := range blocks {
		declared, ok := s.byName[b.name]
		switch {
		case override && !ok:
			diags = append(diags, fault(b.header, "Missing module call to override",
				"There is no module call named %q. An override file can only change a call that another file of the same directory declares.", b.name))
		case override:
			declared.source, declared.version = cmp.Or(b.source, declared.source), cmp.Or(b.version, declared.version)
			declared.broken = declared.broken || b.broken
		case ok:
			diags = append(diags, fault(b.header, "Duplicate module call",
				"A module call named %q was already declared at %s. Rename or remove one of them: names must be unique within a module.", b.name, declared.header))
		default:
			s.byName[b.name] = b
			s.blocks = append(s.blocks, b)
		}
	}
	return diags
}

// maxDigits limits the decimal digits of a number that is converted to a string: "1e999999999" is
// short, but its digits would fill the memory.
const maxDigits = 1000

type arguments struct {
	reader Reader
	// scope is what the arguments can refer to. Without it, they must be literals.
	scope      *scope
	evaluation *evaluation
}

// call returns false if there is no usable source.
func (a *arguments) call(ctx context.Context, b *block) (config.Call, bool, hcl.Diagnostics) {
	call := config.Call{Name: b.name, Range: b.header}
	if b.source == nil {
		if b.broken {
			return call, false, nil // the syntax error was reported
		}
		return call, false, hcl.Diagnostics{missingSource(b)}
	}
	what := argument{"source", b, b.source.Expr}
	source, computed, diags := a.text(ctx, what)
	call.SourceComputed = computed
	if source.IsNull() && !diags.HasErrors() {
		diags = append(diags, what.wrongType("null"))
	}
	if b.version != nil {
		version, computed, versionDiags := a.text(ctx, argument{"version", b, b.version.Expr})
		diags = append(diags, versionDiags...)
		call.VersionComputed = computed
		call.VersionRange = b.version.Expr.Range()
		if known(version) {
			call.Version = new(version.AsString())
		}
	}
	if !known(source) || diags.HasErrors() {
		return call, false, diags
	}
	call.Source, call.SourceRange = source.AsString(), b.source.Expr.Range()
	return call, true, diags
}

func known(v cty.Value) bool { return v.IsKnown() && !v.IsNull() }

type argument struct {
	name  string // "source" or "version"
	block *block
	expr  hcl.Expression
}

func (a argument) String() string { return fmt.Sprintf("%s of module %q", a.name, a.block.name) }

// text evaluates an argument to a string, which may be null, and reports whether it is computed. The
// string is unknown if there are errors, or if the argument may have a syntax error.
func (a *arguments) text(ctx context.Context, arg argument) (text cty.Value, computed bool, diags hcl.Diagnostics) {
	unknown := cty.UnknownVal(cty.String)
	expr, diags := arg.native(ctx)
	if diags.HasErrors() {
		return unknown, false, diags
	}
	var warnings hcl.Diagnostics
	value, rest := literal(expr)
	switch {
	case rest == nil:
	case arg.block.broken:
		return unknown, true, nil // it may be the result of a syntax error
	case a.scope == nil:
		return unknown, true, hcl.Diagnostics{arg.notLiteral(rest)}
	default:
		value, warnings = a.compute(arg, expr)
		if warnings.HasErrors() || !value.IsKnown() {
			return unknown, true, warnings
		}
	}
	text, diags = arg.asText(value)
	return text, rest != nil, append(warnings, diags...)
}

func (a argument) asText(value cty.Value) (cty.Value, hcl.Diagnostics) {
	unknown := cty.UnknownVal(cty.String)
	if eval.Digits(value) > maxDigits {
		return unknown, hcl.Diagnostics{a.wrongType("a number with thousands of digits")}
	}
	text, err := convert.Convert(value, cty.String)
	if err != nil {
		return unknown, hcl.Diagnostics{a.wrongType(value.Type().FriendlyName())}
	}
	return text, nil
}

func (a argument) native(ctx context.Context) (hclsyntax.Expression, hcl.Diagnostics) {
	if expr, ok := a.expr.(hclsyntax.Expression); ok {
		return expr, nil
	}
	expr, diags := eval.Native(ctx, a.expr)
	if large, ok := errors.AsType[*hcldepth.SizeError](hcldepth.ErrorOf(diags)); ok && large.Unit == hcldepth.Bytes {
		return nil, hcl.Diagnostics{fault(a.expr.Range(), "Template too long", "The %s is a template of more than %d bytes.", a, large.Limit)}
	}
	return expr, diags
}

// literal returns the value of an expression that consists of literals, as nearly all arguments do. For
// other expressions it returns the part that is not a literal.
func literal(expr hclsyntax.Expression) (cty.Value, hclsyntax.Expression) {
	switch expr := expr.(type) {
	case *hclsyntax.LiteralValueExpr:
		return expr.Val, nil
	case *hclsyntax.ParenthesesExpr:
		return literal(expr.Expression)
	case *hclsyntax.TemplateWrapExpr:
		return literal(expr.Wrapped)
	case *hclsyntax.TemplateExpr:
		return literalTemplate(expr)
	}
	return cty.DynamicVal, expr
}

func literalTemplate(template *hclsyntax.TemplateExpr) (cty.Value, hclsyntax.Expression) {
	var text strings.Builder
	for _, part := range template.Parts {
		value, rest := literal(part)
		if rest != nil {
			return cty.DynamicVal, rest
		}
		if eval.Digits(value) > maxDigits {
			return cty.DynamicVal, part
		}
		value, err := convert.Convert(value, cty.String)
		if err != nil || value.IsNull() {
			return cty.DynamicVal, part
		}
		if !value.IsKnown() {
			return value, nil
		}
		text.WriteString(value.AsString())
	}
	return cty.StringVal(text.String()), nil
}
