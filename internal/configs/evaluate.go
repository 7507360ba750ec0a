package configs

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// maxTemplateBytes bounds a JSON string that is parsed a second time, as a
// template. The nesting check does not look into strings; one of this length
// cannot nest deep enough to do harm.
const maxTemplateBytes = 4 << 10

// call evaluates a block's arguments. It reports false where there is no
// source to go on with.
func (r Reader) call(b *block) (Call, bool, hcl.Diagnostics) {
	call := Call{Name: b.name, Range: b.header}
	if b.source == nil {
		if b.broken {
			return call, false, nil // the syntax error was reported
		}
		return call, false, hcl.Diagnostics{missingSource(b)}
	}
	what := argument{"source", b, b.source.Expr}
	source, diags := r.text(what)
	if source.IsNull() && !diags.HasErrors() {
		diags = append(diags, what.wrongType("null"))
	}
	if b.version != nil {
		version, versionDiags := r.text(argument{"version", b, b.version.Expr})
		diags = append(diags, versionDiags...)
		call.VersionRange = b.version.Expr.Range()
		if known(version) {
			call.Version, call.HasVersion = version.AsString(), true
		}
	}
	if !known(source) || diags.HasErrors() {
		return call, false, diags
	}
	call.Source, call.SourceRange = source.AsString(), b.source.Expr.Range()
	return call, true, diags
}

func known(v cty.Value) bool { return v.IsKnown() && !v.IsNull() }

// argument is an expression and what to call it in messages.
type argument struct {
	name  string // "source" or "version"
	block *block
	expr  hcl.Expression
}

func (a argument) String() string { return fmt.Sprintf("%s of module %q", a.name, a.block.name) }

// text evaluates an argument to a string, which may be null. It is unknown
// beside errors, and where the parser reported a syntax error in it.
//
// This is the one place that knows what may stand in an argument. Evaluation
// against variables goes in here, and needs their values in [Dir] and the
// "variable" and "locals" blocks in fileSchema and mayHoldCalls.
func (r Reader) text(arg argument) (cty.Value, hcl.Diagnostics) {
	unknown := cty.UnknownVal(cty.String)
	expr, diags := r.native(arg)
	if diags.HasErrors() {
		return unknown, diags
	}
	value, rest := literal(expr)
	if rest != nil && arg.block.broken {
		return unknown, nil // it may be what the parser made of an error
	}
	if rest != nil {
		return unknown, hcl.Diagnostics{arg.notLiteral(rest)}
	}
	text, err := convert.Convert(value, cty.String)
	if err != nil {
		return unknown, hcl.Diagnostics{arg.wrongType(value.Type().FriendlyName())}
	}
	return text, nil
}

// native turns an argument of a JSON file into an expression of the native
// syntax.
func (r Reader) native(arg argument) (hclsyntax.Expression, hcl.Diagnostics) {
	if expr, ok := arg.expr.(hclsyntax.Expression); ok {
		return expr, nil
	}
	value, diags := arg.expr.Value(nil) // strings verbatim
	if diags.HasErrors() {
		return nil, diags
	}
	verbatim := &hclsyntax.LiteralValueExpr{Val: value, SrcRange: arg.expr.Range()}
	if r.Terraform || value.Type() != cty.String || !isTemplate(value.AsString()) {
		return verbatim, nil
	}
	if len(value.AsString()) > maxTemplateBytes {
		return nil, hcl.Diagnostics{arg.tooLong()}
	}
	start := arg.expr.Range().Start
	start.Byte, start.Column = start.Byte+1, start.Column+1 // behind the quote
	return hclsyntax.ParseTemplate([]byte(value.AsString()), arg.expr.Range().Filename, start)
}

func isTemplate(s string) bool {
	return strings.Contains(s, "${") || strings.Contains(s, "%{")
}

// literal returns the value of an expression that is made of literals only, or
// else the part of it that is not. Constant expressions beyond that, such as
// loops in a template, could cost any amount of time to evaluate.
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
