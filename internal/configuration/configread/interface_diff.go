package configread

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cotterpin/cotter/installer/config"
)

const (
	aspectDefault    = "default"
	aspectNullable   = "nullable"
	aspectSensitive  = "sensitive"
	aspectEphemeral  = "ephemeral"
	aspectDeprecated = "deprecated"
	aspectValidation = "validation"
	aspectAliases    = "configuration_aliases"
)

const (
	kindVariable = "variable"
	kindOutput   = "output"
	kindProvider = "provider"
	kindVersion  = "required_version"
)

// Diff returns the changes to another interface, by kind and name.
func (i *Interface) Diff(after *Interface) []config.InterfaceChange {
	var d interfaceDiff
	for _, name := range bothNames(i.Variables, after.Variables) {
		was, had := i.Variables[name]
		is, has := after.Variables[name]
		d.begin(kindVariable, name)
		d.variable(was, is, had, has)
	}
	for _, name := range bothNames(i.Outputs, after.Outputs) {
		was, had := i.Outputs[name]
		is, has := after.Outputs[name]
		d.begin(kindOutput, name)
		d.output(was, is, had, has)
	}
	for _, name := range bothNames(i.Providers, after.Providers) {
		was, had := i.Providers[name]
		is, has := after.Providers[name]
		d.begin(kindProvider, name)
		d.provider(was, is, had, has)
	}
	d.begin(kindVersion, "")
	d.add("", i.RequiredVersion, after.RequiredVersion, false)
	return d.changes
}

func bothNames[V any](before, after map[string]V) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	return slices.Compact(names)
}

type interfaceDiff struct {
	kind, name string
	changes    []config.InterfaceChange
}

func (d *interfaceDiff) begin(kind, name string) { d.kind, d.name = kind, name }

func (d *interfaceDiff) add(aspect, old, updated string, breaking bool) {
	if old != updated {
		d.changes = append(d.changes, config.InterfaceChange{Kind: d.kind, Name: d.name, Aspect: aspect, Old: old, New: updated, Breaking: breaking})
	}
}

func (d *interfaceDiff) addFlag(aspect string, old, updated, breaking bool) {
	d.add(aspect, fmt.Sprint(old), fmt.Sprint(updated), breaking)
}

func (d *interfaceDiff) variable(was, is DeclaredVariable, had, has bool) {
	switch {
	case !has:
		d.add("", variableText(was), "", true)
		return
	case !had:
		d.add("", "", variableText(is), is.Required)
		return
	}
	d.add("", variableText(was), variableText(is), is.Required && !was.Required || !accepts(is.ty, was.ty))
	if !was.Required && !is.Required {
		old, updated := was.Default, is.Default
		if old != updated && (was.Sensitive || is.Sensitive) {
			old, updated = "(sensitive)", "(another)"
		}
		d.add(aspectDefault, old, updated, false)
	}
	d.addFlag(aspectNullable, !was.NotNullable, !is.NotNullable, false)
	d.addFlag(aspectSensitive, was.Sensitive, is.Sensitive, false)
	d.addFlag(aspectEphemeral, was.Ephemeral, is.Ephemeral, was.Ephemeral)
	d.add(aspectDeprecated, was.Deprecated, is.Deprecated, false)
	if !slices.Equal(was.Validations, is.Validations) {
		d.add(aspectValidation, rulesText(was, is), rulesText(is, was), false)
	}
}

func rulesText(of, other DeclaredVariable) string {
	var own []string
	for _, rule := range of.Validations {
		if !slices.Contains(other.Validations, rule) {
			own = append(own, rule)
		}
	}
	return strings.Join(own, "; ")
}

func (d *interfaceDiff) output(was, is DeclaredOutput, had, has bool) {
	if !had || !has {
		d.add("", outputText(had), outputText(has), had)
		return
	}
	// If an output becomes sensitive, outputs of the caller that use it must be marked as well.
	d.addFlag(aspectSensitive, was.Sensitive, is.Sensitive, is.Sensitive)
	d.addFlag(aspectEphemeral, was.Ephemeral, is.Ephemeral, is.Ephemeral)
	d.add(aspectDeprecated, was.Deprecated, is.Deprecated, false)
}

func (d *interfaceDiff) provider(was, is DeclaredProvider, had, has bool) {
	d.add("", providerText(was, had), providerText(is, has), false)
	needsMore := slices.ContainsFunc(is.Aliases, func(alias string) bool { return !slices.Contains(was.Aliases, alias) })
	d.add(aspectAliases, strings.Join(was.Aliases, ", "), strings.Join(is.Aliases, ", "), needsMore)
}

func providerText(p DeclaredProvider, declared bool) string {
	if !declared {
		return ""
	}
	return cmp.Or(strings.TrimSpace(p.Source+" "+p.Constraint), "any version")
}

func variableText(v DeclaredVariable) string {
	if v.Required {
		return "required " + v.Type
	}
	return v.Type
}

func outputText(declared bool) string {
	if !declared {
		return ""
	}
	return "declared"
}

// ForCall returns changes as seen by one call, with the places of those that break it first. A change
// of a variable breaks it only if it concerns an argument that the call sets or must now set.
func ForCall(changes []config.InterfaceChange, call Arguments) []config.InterfaceChange {
	seen := slices.Clone(changes)
	for i, c := range seen {
		if c.Kind == kindOutput && c.Breaking {
			seen[i].At = call.Used[c.Name]
		}
		if c.Kind != kindVariable || !c.Breaking {
			continue
		}
		argument, sets := call.Set[c.Name]
		required := strings.HasPrefix(c.New, requiredPrefix) && !strings.HasPrefix(c.Old, requiredPrefix)
		switch {
		case c.Aspect == "" && required && !sets:
			seen[i].At = call.Range
		case c.Aspect == "" && required && (c.Old == "" || strings.TrimPrefix(c.New, requiredPrefix) == c.Old):
			seen[i].Breaking = false // it is set already
		case sets:
			seen[i].At = argument
		default:
			seen[i].Breaking = false
		}
	}
	return BreakingFirst(seen)
}

const requiredPrefix = "required "

// BreakingFirst sorts in place, and returns its argument.
func BreakingFirst(changes []config.InterfaceChange) []config.InterfaceChange {
	slices.SortStableFunc(changes, func(a, b config.InterfaceChange) int {
		switch {
		case a.Breaking == b.Breaking:
			return 0
		case a.Breaking:
			return -1
		}
		return 1
	})
	return changes
}

// accepts reports whether a variable of type ty accepts every value that one of type other accepts. It
// returns false if that depends on the value.
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

// acceptsAttributes compares object types: callers must set what is not optional, and may set more.
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

// typeText differs from typeexpr.TypeString in that it shows which attributes are optional.
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
