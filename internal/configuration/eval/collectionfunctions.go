package eval

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// collectionFunctions are missing in the cty library, or behave differently there.
func collectionFunctions() map[string]function.Function {
	return map[string]function.Function{
		"alltrue":   truthFunction(func(all, _ bool) bool { return all }),
		"anytrue":   truthFunction(func(_, any bool) bool { return any }),
		"coalesce":  coalesceFunction(),
		"index":     indexFunction(),
		"length":    lengthFunction(),
		"lookup":    lookupFunction(),
		"one":       oneFunction(),
		"sum":       sumFunction(),
		"transpose": transposeFunction(),
	}
}

func truthFunction(f func(all, any bool) bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			all, some := true, false
			for it := args[0].ElementIterator(); it.Next(); {
				_, v := it.Element()
				if !v.IsKnown() {
					return cty.UnknownVal(cty.Bool), nil
				}
				isTrue := !v.IsNull() && v.True()
				all, some = all && isTrue, some || isTrue
			}
			return cty.BoolVal(f(all, some)), nil
		},
	})
}

// coalesceFunction also skips empty strings.
func coalesceFunction() function.Function {
	return function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "vals", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowDynamicType: true, AllowNull: true},
		Type: func(args []cty.Value) (cty.Type, error) {
			types := make([]cty.Type, len(args))
			for i, arg := range args {
				types[i] = arg.Type()
			}
			ty, _ := convert.UnifyUnsafe(types)
			if ty == cty.NilType {
				return ty, errors.New("all arguments must have the same type")
			}
			return ty, nil
		},
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			for _, arg := range args {
				v, err := convert.Convert(arg, ty)
				switch {
				case err != nil:
					return cty.NilVal, err
				case !v.IsKnown():
					return cty.UnknownVal(ty), nil
				case v.IsNull() || ty == cty.String && v.AsString() == "":
					continue
				}
				return v, nil
			}
			return cty.NilVal, errors.New("all arguments are null or empty strings")
		},
	})
}

func indexFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{
			{Name: "list", Type: cty.DynamicPseudoType},
			{Name: "value", Type: cty.DynamicPseudoType},
		},
		Type: function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if ty := args[0].Type(); !ty.IsListType() && !ty.IsTupleType() {
				return cty.NilVal, errors.New("the first argument must be a list")
			}
			for it := args[0].ElementIterator(); it.Next(); {
				i, v := it.Element()
				equal, err := stdlib.Equal(v, args[1])
				if err != nil {
					return cty.NilVal, err
				}
				if !equal.IsKnown() {
					return cty.UnknownVal(cty.Number), nil
				}
				if equal.True() {
					return i, nil
				}
			}
			return cty.NilVal, errors.New("the list does not contain the value")
		},
	})
}

// lengthFunction also accepts a string, and returns the number of its characters.
func lengthFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowDynamicType: true, AllowUnknown: true}},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			ty := args[0].Type()
			switch {
			case ty == cty.DynamicPseudoType:
				return cty.UnknownVal(cty.Number), nil
			case ty == cty.String:
				return stdlib.Strlen(args[0])
			case ty.IsTupleType():
				return cty.NumberIntVal(int64(ty.Length())), nil
			case ty.IsObjectType():
				return cty.NumberIntVal(int64(len(ty.AttributeTypes()))), nil
			case ty.IsCollectionType():
				return args[0].Length(), nil
			}
			return cty.NilVal, errors.New("the argument must be a string, a list or a map")
		},
	})
}

func lookupFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{
			{Name: "map", Type: cty.DynamicPseudoType},
			{Name: "key", Type: cty.String},
		},
		VarParam: &function.Parameter{Name: "default", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true},
		Type:     function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			ty := args[0].Type()
			key := args[1].AsString()
			switch {
			case len(args) > 3:
				return cty.NilVal, errors.New("lookup takes two or three arguments")
			case !ty.IsMapType() && !ty.IsObjectType():
				return cty.NilVal, errors.New("the first argument must be a map")
			case ty.IsObjectType() && ty.HasAttribute(key):
				return args[0].GetAttr(key), nil
			case ty.IsMapType() && args[0].HasIndex(args[1]).True():
				return args[0].Index(args[1]), nil
			case len(args) == 3 && ty.IsMapType():
				return convert.Convert(args[2], ty.ElementType())
			case len(args) == 3:
				return args[2], nil
			}
			return cty.NilVal, fmt.Errorf("the map has no key %q, and the call has no default", key)
		},
	})
}

func oneFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
		Type:   function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if ty := args[0].Type(); !ty.IsListType() && !ty.IsSetType() && !ty.IsTupleType() {
				return cty.NilVal, errors.New("the argument must be a list, a set or a tuple")
			}
			switch args[0].LengthInt() {
			case 0:
				return cty.NullVal(cty.DynamicPseudoType), nil
			case 1:
				it := args[0].ElementIterator()
				it.Next()
				_, v := it.Element()
				return v, nil
			}
			return cty.NilVal, errors.New("the argument must have at most one element")
		},
	})
}

func sumFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Number)}},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if args[0].LengthInt() == 0 {
				return cty.NilVal, errors.New("the list has no elements to add up")
			}
			sum := cty.Zero
			for it := args[0].ElementIterator(); it.Next(); {
				_, v := it.Element()
				if v.IsNull() {
					return cty.NilVal, errors.New("null is not a number")
				}
				sum = sum.Add(v)
			}
			return sum, nil
		},
	})
}

// matchKeysFunction returns the values at the places at which the keys have one of the searched keys.
func matchKeysFunction() function.Function {
	list := cty.List(cty.DynamicPseudoType)
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "values", Type: list}, {Name: "keys", Type: list}, {Name: "searchset", Type: list}},
		Type: func(args []cty.Value) (cty.Type, error) {
			if ty, _ := convert.UnifyUnsafe([]cty.Type{args[1].Type(), args[2].Type()}); ty == cty.NilType {
				return cty.NilType, errors.New("the keys and the searched keys must have the same type")
			}
			return args[0].Type(), nil
		},
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			values, keys, searched := args[0].AsValueSlice(), args[1].AsValueSlice(), args[2].AsValueSlice()
			if len(values) != len(keys) {
				return cty.NilVal, errors.New("there must be as many keys as values")
			}
			var found []cty.Value
			for i, key := range keys {
				for _, one := range searched {
					equal, err := stdlib.Equal(key, one)
					if err != nil {
						return cty.NilVal, err
					}
					if !equal.IsKnown() {
						return cty.UnknownVal(ty), nil
					}
					if equal.True() {
						found = append(found, values[i])
						break
					}
				}
			}
			if len(found) == 0 {
				return cty.ListValEmpty(ty.ElementType()), nil
			}
			return cty.ListVal(found), nil
		},
	})
}

// transposeFunction swaps the keys and the values of a map of lists. Both are sorted.
func transposeFunction() function.Function {
	ty := cty.Map(cty.List(cty.String))
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "values", Type: ty}},
		Type:   function.StaticReturnType(ty),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			found := make(map[string][]cty.Value)
			for it := args[0].ElementIterator(); it.Next(); {
				key, values := it.Element()
				if !values.IsWhollyKnown() {
					return cty.UnknownVal(ty), nil
				}
				if values.IsNull() {
					return cty.NilVal, errors.New("null is not a list of strings")
				}
				for _, v := range values.AsValueSlice() {
					if v.IsNull() {
						return cty.NilVal, errors.New("null is not a string")
					}
					found[v.AsString()] = append(found[v.AsString()], key)
				}
			}
			if len(found) == 0 {
				return cty.MapValEmpty(cty.List(cty.String)), nil
			}
			lists := make(map[string]cty.Value)
			for value, keys := range found {
				lists[value] = cty.ListVal(keys)
			}
			return cty.MapVal(lists), nil
		},
	})
}
