package eval

import (
	"maps"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// functions returns all functions by the names that they have in stock tools.
func (m *Meter) functions(scope Scope) map[string]function.Function {
	table := plainFunctions()
	for name, f := range m.expensiveFunctions() {
		table[name] = f
	}
	maps.Copy(table, stringFunctions())
	maps.Copy(table, collectionFunctions())
	maps.Copy(table, markFunctions())
	maps.Copy(table, m.fileFunctions(scope))
	for _, name := range []string{"can", "try"} {
		table[name] = m.showRefusals(table[name])
	}
	return table
}

// plainFunctions returns the functions that need time and memory in proportion to their
// arguments.
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
		"range":        stdlib.RangeFunc,
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

// isImpure reports whether a function returns a different value on each call.
func isImpure(name string) bool {
	switch name {
	case "bcrypt", "plantimestamp", "timestamp", "uuid":
		return true
	}
	return false
}

// isUnsupported reports whether a function of stock tools is not supported here, because no
// address needs it or because it reads the user's environment, such as the home directory.
func isUnsupported(name string) bool {
	switch name {
	case "base64gunzip", "base64gzip", "cidrcontains", "cidrhost", "cidrnetmask", "cidrsubnet", "cidrsubnets",
		"ephemeralasnull", "filebase64", "filebase64sha256", "filebase64sha512", "filemd5", "fileset", "filesha1",
		"filesha256", "filesha512", "flip_sensitive", "list", "map", "matchkeys", "pathexpand", "rsadecrypt",
		"templatestring", "textdecodebase64", "textencodebase64", "timecmp", "transpose", "type", "uuidv5",
		"yamldecode", "yamlencode":
		return true
	}
	return false
}
