package configs

import (
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// typeText returns a type constraint in its normal form. Unlike typeexpr.TypeString it shows
// which attributes are optional, because callers must set the others.
func typeText(ty cty.Type) string {
	switch {
	case ty == cty.DynamicPseudoType:
		return "any"
	case ty.IsPrimitiveType():
		return ty.FriendlyNameForConstraint()
	case ty.IsListType():
		return "list(" + typeText(ty.ElementType()) + ")"
	case ty.IsSetType():
		return "set(" + typeText(ty.ElementType()) + ")"
	case ty.IsMapType():
		return "map(" + typeText(ty.ElementType()) + ")"
	case ty.IsTupleType():
		var elements []string
		for _, element := range ty.TupleElementTypes() {
			elements = append(elements, typeText(element))
		}
		return "tuple([" + strings.Join(elements, ", ") + "])"
	case ty.IsObjectType():
		return "object({" + strings.Join(attributeTexts(ty), ", ") + "})"
	}
	return ty.FriendlyNameForConstraint()
}

func attributeTexts(object cty.Type) []string {
	attributes := object.AttributeTypes()
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		text := typeText(attributes[name])
		if object.AttributeOptional(name) {
			text = "optional(" + text + ")"
		}
		texts = append(texts, name+" = "+text)
	}
	return texts
}
