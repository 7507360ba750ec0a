package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/internal/hcldepth"
)

// MaxTemplate is the maximum length in bytes of a JSON string that is parsed as a template.
const MaxTemplate = hcldepth.MaxTemplate

// ErrTemplateTooLong says that a JSON string is longer than MaxTemplate.
var ErrTemplateTooLong = errors.New("template too long")

// Native converts an expression of a JSON file to an expression in native syntax, in which its
// strings are templates. It returns other expressions unchanged.
func Native(ctx context.Context, expr hcl.Expression) (hclsyntax.Expression, hcl.Diagnostics) {
	if native, ok := expr.(hclsyntax.Expression); ok {
		return native, nil
	}
	value, diags := expr.Value(nil) // strings verbatim
	if diags.HasErrors() {
		return nil, diags
	}
	return nativeValue(ctx, value, expr.Range())
}

func nativeValue(ctx context.Context, v cty.Value, at hcl.Range) (hclsyntax.Expression, hcl.Diagnostics) {
	ty := v.Type()
	switch {
	case v.IsNull():
	case ty == cty.String && isTemplate(v.AsString()):
		return parseString(ctx, v.AsString(), at)
	case ty.IsTupleType():
		return nativeTuple(ctx, v, at)
	case ty.IsObjectType():
		return nativeObject(ctx, v, at)
	}
	return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: at}, nil
}

// isTemplate reports whether a string of a JSON file contains template sequences.
func isTemplate(s string) bool {
	return strings.Contains(s, "${") || strings.Contains(s, "%{")
}

func parseString(ctx context.Context, s string, at hcl.Range) (hclsyntax.Expression, hcl.Diagnostics) {
	if len(s) > MaxTemplate {
		return nil, hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Template too long",
			Detail:   fmt.Sprintf("A JSON string with a template in it can have at most %d bytes.", MaxTemplate),
			Subject:  &at,
			Extra:    ErrTemplateTooLong,
		}}
	}
	start := at.Start
	start.Byte, start.Column = start.Byte+1, start.Column+1 // after the quote
	return hcldepth.ParseTemplate(ctx, []byte(s), at.Filename, start)
}

func nativeTuple(ctx context.Context, v cty.Value, at hcl.Range) (hclsyntax.Expression, hcl.Diagnostics) {
	tuple := &hclsyntax.TupleConsExpr{SrcRange: at, OpenRange: at}
	var diags hcl.Diagnostics
	for it := v.ElementIterator(); it.Next(); {
		_, element := it.Element()
		expr, elementDiags := nativeValue(ctx, element, at)
		diags = append(diags, elementDiags...)
		tuple.Exprs = append(tuple.Exprs, expr)
	}
	return tuple, diags
}

func nativeObject(ctx context.Context, v cty.Value, at hcl.Range) (hclsyntax.Expression, hcl.Diagnostics) {
	object := &hclsyntax.ObjectConsExpr{SrcRange: at, OpenRange: at}
	var diags hcl.Diagnostics
	attributes := v.AsValueMap()
	names := make([]string, 0, len(attributes))
	for name := range attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		key, keyDiags := nativeValue(ctx, cty.StringVal(name), at)
		value, valueDiags := nativeValue(ctx, attributes[name], at)
		diags = append(append(diags, keyDiags...), valueDiags...)
		object.Items = append(object.Items, hclsyntax.ObjectConsItem{KeyExpr: key, ValueExpr: value})
	}
	return object, diags
}
