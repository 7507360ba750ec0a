package configs

import (
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// accepts reports whether a variable of type ty accepts every value that a variable of type other
// accepts. It returns false if that depends on the value.
func accepts(ty, other cty.Type) bool {
	switch {
	case ty == cty.DynamicPseudoType || ty.Equals(other):
		return true
	case other == cty.DynamicPseudoType:
		return false
	case ty.IsPrimitiveType() && other.IsPrimitiveType():
		return convert.GetConversion(other, ty) != nil
	case ty.IsObjectType() && other.IsObjectType():
		return acceptsAttributes(ty, other)
	case ty.IsTupleType() && other.IsTupleType():
		return slices.EqualFunc(ty.TupleElementTypes(), other.TupleElementTypes(), accepts)
	case ty.IsMapType() && other.IsMapType(),
		(ty.IsListType() || ty.IsSetType()) && (other.IsListType() || other.IsSetType()):
		return accepts(ty.ElementType(), other.ElementType())
	}
	return false
}

// acceptsAttributes compares object types. Callers must set all attributes that are not optional,
// and may set attributes that the type does not have.
func acceptsAttributes(ty, other cty.Type) bool {
	for name, attribute := range ty.AttributeTypes() {
		switch optional := ty.AttributeOptional(name); {
		case !other.HasAttribute(name):
			if !optional {
				return false
			}
		case other.AttributeOptional(name) && !optional, !accepts(attribute, other.AttributeType(name)):
			return false
		}
	}
	return true
}
