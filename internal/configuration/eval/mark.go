package eval

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Kind is the reason why a value cannot be a source or a version.
type Kind int

const (
	// Unknown means not known before the configuration is applied.
	Unknown Kind = iota
	// Sensitive means that the value must not be shown, so also not written to locks and manifests.
	Sensitive
	// Ephemeral means that the value must not be stored.
	Ephemeral
	// Dynamic means that an expression from which the value comes refers to something that is not known before the
	// configuration is applied, whether the value depends on it or not. Stock tools refuse such references.
	Dynamic
)

// Mark names the origin of a value that cannot be used, for that and everything that is computed from it.
type Mark struct {
	Kind Kind
	// What is for messages, such as "var.token".
	What string
	At   hcl.Range
}

// UnknownValue returns a value that is not known because of the named origin.
func UnknownValue(what string, at hcl.Range) cty.Value {
	return cty.DynamicVal.Mark(Mark{Kind: Unknown, What: what, At: at})
}

// Marks returns the marks of one kind of a value and all its parts, sorted.
func Marks(v cty.Value, kind Kind) []Mark {
	var found []Mark
	_, marks := v.UnmarkDeep()
	for mark := range marks {
		if m, ok := mark.(Mark); ok && m.Kind == kind {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, compareMarks)
	return found
}

func compareMarks(a, b Mark) int {
	return cmp.Or(cmp.Compare(a.What, b.What), cmp.Compare(a.At.String(), b.At.String()))
}

// DynamicOrigin returns a mark that says why the value itself, without its parts, is unknown or dynamic.
func DynamicOrigin(v cty.Value) (Mark, bool) {
	var first Mark
	found := false
	for mark := range v.Marks() {
		if m, ok := mark.(Mark); ok && (m.Kind == Unknown || m.Kind == Dynamic) && (!found || compareMarks(m, first) < 0) {
			first, found = m, true
		}
	}
	return first, found
}

func Secret(v cty.Value) bool {
	return len(Marks(v, Sensitive)) > 0 || len(Marks(v, Ephemeral)) > 0
}

// without leaves the marks of the value's parts.
func without(v cty.Value, kind Kind) cty.Value {
	v, marks := v.Unmark()
	for mark := range marks {
		if m, ok := mark.(Mark); !ok || m.Kind != kind {
			v = v.Mark(mark)
		}
	}
	return v
}

// keeping is an expression whose value has the marks of some of its parts, which may be nil. HCL loses
// them before version 2.23: those of conditions, and those of unknown values that are looked into.
type keeping struct {
	hclsyntax.Expression
	parts []*metered
}

func keep(expr hclsyntax.Expression, parts ...hclsyntax.Expression) hclsyntax.Expression {
	k := &keeping{Expression: expr}
	for _, part := range parts {
		if m, ok := part.(*metered); ok {
			k.parts = append(k.parts, m)
		}
	}
	return k
}

func (e *keeping) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	for _, part := range e.parts {
		part.marks = nil // of the last iteration of a loop
	}
	value, diags := e.Expression.Value(ctx)
	for _, part := range e.parts {
		value = value.WithMarks(part.marks)
	}
	return value, diags
}

// reference has the marks of all values on the way to its value, even if one of them is unknown.
type reference struct{ *hclsyntax.ScopeTraversalExpr }

func (e *reference) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	value, diags := e.ScopeTraversalExpr.Value(ctx)
	if diags.HasErrors() || value.IsKnown() {
		return value, diags
	}
	for n := 1; n < len(e.Traversal); n++ {
		if before, _ := e.Traversal[:n].TraverseAbs(ctx); !before.IsKnown() {
			return value.WithSameMarks(before), diags
		}
	}
	return value, diags
}

func markFunctions() map[string]function.Function {
	return map[string]function.Function{
		"sensitive": markFunction(func(v cty.Value) cty.Value {
			return v.Mark(Mark{Kind: Sensitive, What: "sensitive(...)", At: hcl.Range{}})
		}),
		"nonsensitive":    markFunction(func(v cty.Value) cty.Value { return without(v, Sensitive) }),
		"issensitive":     isSensitiveFunction(),
		"ephemeralasnull": markFunction(withoutEphemeral),
	}
}

// withoutEphemeral replaces each ephemeral part by null.
func withoutEphemeral(v cty.Value) cty.Value {
	stored, err := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		kept := without(v, Ephemeral)
		if v.HasSameMarks(kept) {
			return v, nil
		}
		return cty.NullVal(v.Type()).WithSameMarks(kept), nil
	})
	if err != nil {
		return cty.DynamicVal // no step above returns an error
	}
	return stored
}

func anyParameter() []function.Parameter {
	return []function.Parameter{{
		Name: "value", Type: cty.DynamicPseudoType,
		AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
	}}
}

func markFunction(f func(cty.Value) cty.Value) function.Function {
	return function.New(&function.Spec{
		Params: anyParameter(),
		Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return f(args[0]), nil },
	})
}

func isSensitiveFunction() function.Function {
	return function.New(&function.Spec{
		Params: anyParameter(),
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(!args[0].HasSameMarks(without(args[0], Sensitive))), nil
		},
	})
}
