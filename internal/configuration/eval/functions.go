package eval

import (
	"fmt"
	"maps"
	"math"
	"regexp"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
)

func (m *Meter) functions(scope Scope) map[string]function.Function {
	table := plainFunctions()
	maps.Copy(table, m.expensiveFunctions())
	maps.Copy(table, stringFunctions())
	maps.Copy(table, m.encodingFunctions())
	maps.Copy(table, collectionFunctions())
	maps.Copy(table, markFunctions())
	maps.Copy(table, cidrFunctions())
	maps.Copy(table, m.yamlFunctions())
	maps.Copy(table, m.fileFunctions(scope))
	for _, name := range []string{"can", "try"} {
		table[name] = m.showRefusals(table[name])
	}
	return table
}

// plainFunctions need time and memory in proportion to their arguments.
func plainFunctions() map[string]function.Function {
	return map[string]function.Function{
		"abs":          stdlib.AbsoluteFunc,
		"can":          tryfunc.CanFunc,
		"ceil":         stdlib.CeilFunc,
		"chomp":        stdlib.ChompFunc,
		"chunklist":    stdlib.ChunklistFunc,
		"coalescelist": stdlib.CoalesceListFunc,
		"compact":      stdlib.CompactFunc,
		"concat":       stdlib.ConcatFunc,
		"contains":     stdlib.ContainsFunc,
		"element":      stdlib.ElementFunc,
		"flatten":      stdlib.FlattenFunc,
		"floor":        stdlib.FloorFunc,
		"formatdate":   stdlib.FormatDateFunc,
		"jsonencode":   stdlib.JSONEncodeFunc,
		"keys":         stdlib.KeysFunc,
		"log":          stdlib.LogFunc,
		"lower":        stdlib.LowerFunc,
		"max":          stdlib.MaxFunc,
		"merge":        stdlib.MergeFunc,
		"min":          stdlib.MinFunc,
		"pow":          stdlib.PowFunc,
		"reverse":      stdlib.ReverseListFunc,
		"signum":       stdlib.SignumFunc,
		"slice":        stdlib.SliceFunc,
		"sort":         stdlib.SortFunc,
		"strrev":       stdlib.ReverseFunc,
		"substr":       stdlib.SubstrFunc,
		"timeadd":      stdlib.TimeAddFunc,
		"title":        stdlib.TitleFunc,
		"tobool":       stdlib.MakeToFunc(cty.Bool),
		"tonumber":     stdlib.MakeToFunc(cty.Number),
		"tostring":     stdlib.MakeToFunc(cty.String),
		"tolist":       stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"tomap":        stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
		"trimprefix":   stdlib.TrimPrefixFunc,
		"trimspace":    stdlib.TrimSpaceFunc,
		"trimsuffix":   stdlib.TrimSuffixFunc,
		"try":          tryfunc.TryFunc,
		"upper":        stdlib.UpperFunc,
		"values":       stdlib.ValuesFunc,
		"zipmap":       stdlib.ZipmapFunc,
	}
}

func isImpure(name string) bool {
	switch name {
	case "bcrypt", "plantimestamp", "timestamp", "uuid":
		return true
	}
	return false
}

// isUnsupported lists functions of stock tools that no address needs, or that read the user's environment,
// such as the home directory. docs/stock-tools.md has them too.
func isUnsupported(name string) bool {
	switch name {
	case "list", "map", "pathexpand", "rsadecrypt", "type":
		return true
	}
	return false
}

// expensiveFunctions do work that can far exceed the size of their arguments. It is counted before the call.
func (m *Meter) expensiveFunctions() map[string]function.Function {
	return map[string]function.Function{
		"csvdecode":       m.guard(stdlib.CSVDecodeFunc, manyValues),
		"distinct":        m.guard(stdlib.DistinctFunc, squareOfElements),
		"format":          m.guard(stdlib.FormatFunc, formatted),
		"formatlist":      m.guard(stdlib.FormatListFunc, formatted),
		"indent":          m.guard(stdlib.IndentFunc, indented),
		"join":            m.guard(stdlib.JoinFunc, firstTimesRest),
		"jsondecode":      m.guard(stdlib.JSONDecodeFunc, manyValues),
		"parseint":        m.guard(stdlib.ParseIntFunc, squareOfWeight),
		"range":           m.guard(stdlib.RangeFunc, maxRange),
		"regex":           m.guard(stdlib.RegexFunc, firstTimesRest),
		"regexall":        m.guard(stdlib.RegexAllFunc, firstTimesRest),
		"matchkeys":       m.guard(matchKeysFunction(), squareOfElements),
		"replace":         m.guard(replaceFunction(), firstTimesRest),
		"setintersection": m.guard(stdlib.SetIntersectionFunc, squareOfElements),
		"setproduct":      m.guard(stdlib.SetProductFunc, productOfElements),
		"setsubtract":     m.guard(stdlib.SetSubtractFunc, squareOfElements),
		"setunion":        m.guard(stdlib.SetUnionFunc, squareOfElements),
		"split":           m.guard(stdlib.SplitFunc, manyValues),
		"toset":           m.guard(stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)), squareOfElements),
		"trim":            m.guard(stdlib.TrimFunc, firstTimesRest),
		"templatestring": m.templateFunction("template", func(text string) (string, string, error) {
			if len(text) > hcldepth.MaxTemplate {
				return "", "", fmt.Errorf("the template has more than %d bytes", hcldepth.MaxTemplate)
			}
			return text, "templatestring", nil
		}),
	}
}

type cost func(m *Meter, args []cty.Value) float64

func (m *Meter) guard(f function.Function, work cost) function.Function {
	return function.New(&function.Spec{
		Description: f.Description(),
		Params:      f.Params(),
		VarParam:    f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if !m.charge(int64(min(work(m, args), math.MaxInt64/2))) {
				return cty.NilType, m.err
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return f.Call(args) },
	})
}

func (m *Meter) weight(v cty.Value) float64   { return float64(measure(v, m.left).weight) }
func (m *Meter) elements(v cty.Value) float64 { return float64(measure(v, m.left).elements) }

// maxRange is the cost of range, which computes up to 1024 numbers, also if it then refuses. Each takes four
// units.
func maxRange(*Meter, []cty.Value) float64 { return 4 * 1024 }

// firstTimesRest is the cost of functions that insert one text into another or search for it.
func firstTimesRest(m *Meter, args []cty.Value) float64 {
	var rest float64
	for _, arg := range args[1:] {
		rest += m.weight(arg)
	}
	return m.weight(args[0]) * rest
}

// squareOfElements is the cost of functions that may compare any two elements.
func squareOfElements(m *Meter, args []cty.Value) float64 {
	var n float64
	for _, arg := range args {
		n += m.elements(arg)
	}
	return n * n
}

func productOfElements(m *Meter, args []cty.Value) float64 {
	n := 1.0
	for _, arg := range args {
		n *= m.elements(arg)
	}
	return n * elementWeight * float64(len(args))
}

func squareOfWeight(m *Meter, args []cty.Value) float64 {
	return m.weight(args[0]) * m.weight(args[0])
}

// manyValues is the cost of functions that may return a value for each byte.
func manyValues(m *Meter, args []cty.Value) float64 {
	var weight float64
	for _, arg := range args {
		weight += m.weight(arg)
	}
	return elementWeight * weight
}

// wide matches a width or a precision of at least four digits in a format.
var wide = regexp.MustCompile(`%[^a-zA-Z%]*[0-9]{4}`)

// maxPadding is how many bytes one byte of a format can add: four such as "%99s" can request up to 999.
const maxPadding = 250

func formatted(m *Meter, args []cty.Value) float64 {
	format, _ := args[0].Unmark()
	if format.Type() == cty.String && format.IsKnown() && !format.IsNull() && wide.MatchString(format.AsString()) {
		return math.MaxInt64
	}
	rest := 1.0
	for _, arg := range args[1:] {
		rest += m.elements(arg)
	}
	return maxPadding * m.weight(format) * rest
}

func indented(m *Meter, args []cty.Value) float64 {
	spaces, _ := args[0].Unmark()
	if spaces.Type() != cty.Number || !spaces.IsKnown() || spaces.IsNull() {
		return 0
	}
	n, _ := spaces.AsBigFloat().Float64()
	return max(n, 1) * m.weight(args[1])
}
