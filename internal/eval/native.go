package eval

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// MaxTemplate is the maximum length in bytes of a JSON string that is parsed as a template. The
// nesting of expressions in strings is not checked, but a string of this length cannot be nested
// deeply enough to do harm.
const MaxTemplate = 4 << 10

// ErrTemplateTooLong says that a JSON string is longer than MaxTemplate.
var ErrTemplateTooLong = errors.New("template too long")

// Native converts an expression of a JSON file to an expression in native syntax, in which its
// strings are templates. It returns other expressions unchanged.
func Native(expr hcl.Expression) (hclsyntax.Expression, hcl.Diagnostics) {
	if native, ok := expr.(hclsyntax.Expression); ok {
		return native, nil
	}
	value, diags := expr.Value(nil) // strings verbatim
	if diags.HasErrors() {
		return nil, diags
	}
	return nativeValue(value, expr.Range())
}

func nativeValue(v cty.Value, at hcl.Range) (hclsyntax.Expression, hcl.Diagnostics) {
	ty := v.Type()
	switch {
	case v.IsNull():
	case ty == cty.String && isTemplate(v.AsString()):
		return parseString(v.AsString(), at)
	case ty.IsTupleType():
		return nativeTuple(v, at)
	case ty.IsObjectType():
		return nativeObject(v, at)
	}
	return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: at}, nil
}

// isTemplate reports whether a string of a JSON file contains template sequences.
func isTemplate(s string) bool {
	return strings.Contains(s, "${") || strings.Contains(s, "%{")
}

func parseString(s string, at hcl.Range) (hclsyntax.Expression, hcl.Diagnostics) {
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
	return hclsyntax.ParseTemplate([]byte(s), at.Filename, start)
}

func nativeTuple(v cty.Value, at hcl.Range) (hclsyntax.Expression, hcl.Diagnostics) {
	tuple := &hclsyntax.TupleConsExpr{SrcRange: at, OpenRange: at}
	var diags hcl.Diagnostics
	for it := v.ElementIterator(); it.Next(); {
		_, element := it.Element()
		expr, elementDiags := nativeValue(element, at)
		diags = append(diags, elementDiags...)
		tuple.Exprs = append(tuple.Exprs, expr)
	}
	return tuple, diags
}

func nativeObject(v cty.Value, at hcl.Range) (hclsyntax.Expression, hcl.Diagnostics) {
	object := &hclsyntax.ObjectConsExpr{SrcRange: at, OpenRange: at}
	var diags hcl.Diagnostics
	attributes := v.AsValueMap()
	names := make([]string, 0, len(attributes))
	for name := range attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		key, keyDiags := nativeValue(cty.StringVal(name), at)
		value, valueDiags := nativeValue(attributes[name], at)
		diags = append(append(diags, keyDiags...), valueDiags...)
		object.Items = append(object.Items, hclsyntax.ObjectConsItem{KeyExpr: key, ValueExpr: value})
	}
	return object, diags
}
