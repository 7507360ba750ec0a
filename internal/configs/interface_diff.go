package configs

import (
	"cmp"
	"maps"
	"slices"
)

// InterfaceChange is one thing that differs between two interfaces.
type InterfaceChange struct {
	// Kind is "variable", "output" or "provider", and Name its name there.
	Kind, Name string
	// Old and New are what was declared and what is: the type of a variable, with
	// "required " before it if it has no default; the source and the version constraints
	// of a provider, or "any version"; "declared" for an output. "" stands for nothing.
	Old, New string
}

// Diff returns how another interface differs from this one: variables first, then
// outputs, then providers, each in the order of their names.
func (i *Interface) Diff(after *Interface) []InterfaceChange {
	return slices.Concat(
		diffNames("variable", mapValues(i.Variables, variableText), mapValues(after.Variables, variableText)),
		diffNames("output", mapValues(i.Outputs, outputText), mapValues(after.Outputs, outputText)),
		diffNames("provider", i.Providers, after.Providers),
	)
}

func diffNames(kind string, before, after map[string]string) []InterfaceChange {
	names := maps.Clone(before)
	maps.Copy(names, after)
	var changes []InterfaceChange
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, had := before[name]
		is, has := after[name]
		if was == is && had == has {
			continue
		}
		// Providers without requirements are still declared.
		if had {
			was = cmp.Or(was, "any version")
		}
		if has {
			is = cmp.Or(is, "any version")
		}
		changes = append(changes, InterfaceChange{Kind: kind, Name: name, Old: was, New: is})
	}
	return changes
}

func variableText(v DeclaredVariable) string {
	if v.Required {
		return "required " + v.Type
	}
	return v.Type
}

func outputText(bool) string { return "declared" }

func mapValues[V any](m map[string]V, text func(V) string) map[string]string {
	texts := make(map[string]string, len(m))
	for name, value := range m {
		texts[name] = text(value)
	}
	return texts
}
