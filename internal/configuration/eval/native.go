package eval

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
)

// Native returns an expression of JSON in native syntax, in which its strings are templates.
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
		start := at.Start
		start.Byte, start.Column = start.Byte+1, start.Column+1 // after the quote
		return hcldepth.ParseTemplate(ctx, []byte(v.AsString()), at.Filename, start)
	case ty.IsTupleType():
		return nativeTuple(ctx, v, at)
	case ty.IsObjectType():
		return nativeObject(ctx, v, at)
	}
	return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: at}, nil
}

func isTemplate(s string) bool {
	return strings.Contains(s, "${") || strings.Contains(s, "%{")
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
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		key, keyDiags := nativeValue(ctx, cty.StringVal(name), at)
		value, valueDiags := nativeValue(ctx, attributes[name], at)
		diags = append(append(diags, keyDiags...), valueDiags...)
		object.Items = append(object.Items, hclsyntax.ObjectConsItem{KeyExpr: key, ValueExpr: value})
	}
	return object, diags
}
