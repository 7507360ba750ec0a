package eval

import (
	"maps"
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
)

// Type returns the type that an expression describes, and the defaults of its optional attributes. It refuses "for"
// expressions, which can take any amount of time.
func (m *Meter) Type(expr hcl.Expression) (cty.Type, *typeexpr.Defaults, hcl.Diagnostics) {
	native, diags := m.nativeType(expr)
	if diags.HasErrors() {
		return cty.DynamicPseudoType, nil, diags
	}
	var work typeWork
	_ = hclsyntax.Walk(native, &work) // typeWork has no diagnostics
	if work.computes {
		return cty.DynamicPseudoType, nil, hcl.Diagnostics{failure(expr.Range().Ptr(), "Invalid type", "The type has a \"for\" expression in it, which is not evaluated here.")}
	}
	if !m.charge(work.units) {
		return cty.DynamicPseudoType, nil, hcl.Diagnostics{m.diagnostic(expr.Range())}
	}
	return typeexpr.TypeConstraintWithDefaults(native)
}

// nativeType parses the text that is a type in JSON.
func (m *Meter) nativeType(expr hcl.Expression) (hclsyntax.Expression, hcl.Diagnostics) {
	if native, ok := expr.(hclsyntax.Expression); ok {
		return native, nil
	}
	text, diags := expr.Value(nil) // verbatim
	if diags.HasErrors() {
		return nil, diags
	}
	if text.Type() != cty.String || text.IsNull() {
		return nil, hcl.Diagnostics{failure(expr.Range().Ptr(), "Invalid type", "A type in JSON is a string.")}
	}
	start := expr.Range().Start
	start.Byte, start.Column = start.Byte+1, start.Column+1 // after the quote
	return hcldepth.ParseExpression(m.ctx, []byte(text.AsString()), expr.Range().Filename, start)
}

// typeWork counts the work for a type before it is done: package typeexpr converts the default of each optional
// attribute to the type of the attribute, which can have many optional attributes for each element of the default.
type typeWork struct {
	units    int64
	computes bool
	// parts has the numbers of parts of the expressions in which the walk is: of all parts, and of each argument.
	parts []partCount
}

type partCount struct {
	all  int64
	each []int64
}

func (w *typeWork) Enter(hclsyntax.Node) hcl.Diagnostics {
	w.parts = append(w.parts, partCount{all: 1})
	return nil
}

func (w *typeWork) Exit(node hclsyntax.Node) hcl.Diagnostics {
	last := len(w.parts) - 1
	count := w.parts[last]
	w.parts = w.parts[:last]
	if last > 0 {
		above := &w.parts[last-1]
		above.all += count.all
		above.each = append(above.each, count.all)
	}
	n := int64(len(count.each))
	switch node := node.(type) {
	case *hclsyntax.ForExpr:
		w.computes = true
	case *hclsyntax.TupleConsExpr, *hclsyntax.ObjectConsExpr:
		w.units += n * n / 4 // as in measure
	case *hclsyntax.FunctionCallExpr:
		if node.Name == "optional" && n == 2 {
			w.units += elementWeight * count.each[0] * count.each[1]
		}
	}
	return nil
}

// Convert applies defaults, which may be nil, and converts a value to a type. Both can make many values that v does
// not have: for each object, all attributes of the type. So they are counted before.
func (m *Meter) Convert(v cty.Value, to cty.Type, defaults *typeexpr.Defaults) (converted cty.Value, err error) {
	work := measure(v, m.left)
	var made size
	if work.weight <= m.left {
		made.addConverted(v, newShape(to, defaults), m.left)
	}
	if hasSet(to) {
		work.weight += made.elements * made.elements // hashes of set elements may collide
	}
	if !m.charge(work.weight + made.weight) {
		return cty.DynamicVal, m.err
	}
	if defaults != nil {
		v = defaults.Apply(v)
	}
	return convert.Convert(v, to)
}

func hasSet(ty cty.Type) bool {
	switch {
	case ty.IsSetType():
		return true
	case ty.IsCollectionType():
		return hasSet(ty.ElementType())
	case ty.IsTupleType():
		return slices.ContainsFunc(ty.TupleElementTypes(), hasSet)
	case ty.IsObjectType():
		return slices.ContainsFunc(slices.Collect(maps.Values(ty.AttributeTypes())), hasSet)
	}
	return false
}

// shape is a type with its defaults.
type shape struct {
	// weight is elementWeight for each type of which the type consists: a null has all of them.
	weight     int64
	attributes map[string]*shape    // of an object
	defaults   map[string]cty.Value // of its attributes
	elements   func(i int) *shape   // of a collection or a tuple; nil if there is no such element
}

func newShape(ty cty.Type, defaults *typeexpr.Defaults) *shape {
	s := &shape{weight: elementWeight}
	below := func(ty cty.Type, key string) *shape {
		var child *typeexpr.Defaults
		if defaults != nil {
			child = defaults.Children[key]
		}
		part := newShape(ty, child)
		s.weight += part.weight
		return part
	}
	switch {
	case ty.IsObjectType():
		s.attributes = make(map[string]*shape)
		for name, attribute := range ty.AttributeTypes() {
			s.attributes[name] = below(attribute, name)
		}
		if defaults != nil {
			s.defaults = defaults.DefaultValues
		}
	case ty.IsTupleType():
		var parts []*shape
		for i, element := range ty.TupleElementTypes() {
			parts = append(parts, below(element, strconv.Itoa(i)))
		}
		s.elements = func(i int) *shape {
			if i >= len(parts) {
				return nil
			}
			return parts[i]
		}
	case ty.IsCollectionType():
		element := below(ty.ElementType(), "")
		s.elements = func(int) *shape { return element }
	}
	return s
}

// addConverted adds the size that a value will have, with its defaults, as one of another type. A value that does not
// fit the type, which is found out later, has the size of what the defaults make of it.
func (s *size) addConverted(v cty.Value, to *shape, limit int64) {
	v, _ = v.Unmark()
	ty := v.Type()
	hasElements := v.IsKnown() && !v.IsNull() && v.CanIterateElements()
	switch {
	case s.weight > limit:
	case hasElements && to.attributes != nil && (ty.IsObjectType() || ty.IsMapType()):
		s.addObject(v, to, limit)
	case hasElements && to.elements != nil:
		s.elements++
		s.weight += to.weight // of the type of an empty collection
		i := 0
		for it := v.ElementIterator(); it.Next() && s.weight <= limit; i++ {
			_, element := it.Element()
			if part := to.elements(i); part != nil {
				s.addConverted(element, part, limit)
			}
		}
	default:
		s.elements += to.weight / elementWeight
		s.weight += to.weight
		s.add(v, limit)
	}
}

func (s *size) addObject(v cty.Value, to *shape, limit int64) {
	s.elements++
	s.weight += elementWeight
	given := v.AsValueMap()
	for name, part := range to.attributes {
		if s.weight > limit {
			return
		}
		value, ok := given[name]
		if initial, hasDefault := to.defaults[name]; hasDefault && (!ok || value.IsNull()) {
			value, ok = initial, true
		}
		if !ok {
			value = cty.NullVal(cty.DynamicPseudoType)
		}
		s.addConverted(value, part, limit)
	}
}
