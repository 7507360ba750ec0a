package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// markFunctions returns the functions that add, remove or check marks of secrets.
func markFunctions() map[string]function.Function {
	return map[string]function.Function{
		"sensitive": markFunction(func(v cty.Value) cty.Value {
			return v.Mark(Mark{Kind: Sensitive, What: "sensitive(...)", At: hcl.Range{}})
		}),
		"nonsensitive": markFunction(func(v cty.Value) cty.Value { return without(v, Sensitive) }),
		"issensitive":  isSensitiveFunction(),
	}
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
			_, marks := args[0].Unmark()
			for mark := range marks {
				if m, ok := mark.(Mark); ok && m.Kind == Sensitive {
					return cty.True, nil
				}
			}
			return cty.False, nil
		},
	})
}
