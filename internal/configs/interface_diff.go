package configs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// InterfaceChange is one thing that differs between two interfaces.
type InterfaceChange struct {
	// Kind is "variable", "output", "provider" or "required_version", and Name its name
	// there.
	Kind, Name string
	// Aspect is what has changed of it, "default" for example; "" means the declaration.
	Aspect string
	// Old and New are what was declared and what is: the type of a variable, with
	// "required " before it if it has no default; the source and the version constraints
	// of a provider, or "any version"; "declared" for an output. "" stands for nothing.
	Old, New string
	// Breaking says that calls which were right before may fail.
	Breaking bool
	// At is the place in the configuration that breaks, if a call is known.
	At hcl.Range
}

// The aspects of declarations.
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

// Diff returns how another interface differs from this one: variables first, then
// outputs, then providers, each in the order of their names, and then the version of the
// stock tool.
func (i *Interface) Diff(after *Interface) []InterfaceChange {
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

// interfaceDiff collects the changes of one declaration after the other.
type interfaceDiff struct {
	kind, name string
	changes    []InterfaceChange
}

func (d *interfaceDiff) begin(kind, name string) { d.kind, d.name = kind, name }

// add adds a change, if it is one.
func (d *interfaceDiff) add(aspect, old, updated string, breaking bool) {
	if old != updated {
		d.changes = append(d.changes, InterfaceChange{Kind: d.kind, Name: d.name, Aspect: aspect, Old: old, New: updated, Breaking: breaking})
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

// rulesText returns the validation rules of a variable that another one does not have.
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
	// A caller's own output of a value that is sensitive now has to say so.
	d.addFlag(aspectSensitive, was.Sensitive, is.Sensitive, is.Sensitive)
	d.addFlag(aspectEphemeral, was.Ephemeral, is.Ephemeral, is.Ephemeral)
	d.add(aspectDeprecated, was.Deprecated, is.Deprecated, false)
}

func (d *interfaceDiff) provider(was, is DeclaredProvider, had, has bool) {
	// A provider without requirements is still declared.
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

// ForCall returns changes as one call sees them, which sets some variables: what breaks
// it comes first, and has the place of the argument, or of the call for one that is
// missing, or of the first use of an output. Changes of variables that the call is not
// concerned by do not break it.
func ForCall(changes []InterfaceChange, call Arguments) []InterfaceChange {
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

// BreakingFirst sorts changes so that those which break calls come first. It returns them
// for convenience.
func BreakingFirst(changes []InterfaceChange) []InterfaceChange {
	slices.SortStableFunc(changes, func(a, b InterfaceChange) int {
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
