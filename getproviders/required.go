package getproviders

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// ProviderRequirement is one place where a module requires a provider: an entry of
// required_providers, a provider block, or something that implies a provider.
type ProviderRequirement struct {
	Provider addrs.Provider
	// Constraint is the version constraint as written; "" for none.
	Constraint string
	// Implied says that no required_providers block names the provider: By, a resource
	// for example, has it by its name alone.
	Implied bool
	// By says what requires it: "required_providers", "resource aws_instance.web".
	By string
	// Range is where that is.
	Range hcl.Range
}

// ProviderUse is a place in a module that requires a provider.
type ProviderUse struct {
	// Path is the module's path; empty for the root module.
	Path addrs.Module
	ProviderRequirement
	// Allowed is the newest version that Constraint allows by itself, if an error says
	// that no version meets the constraints of all places; "" otherwise, and if Constraint
	// allows no version.
	Allowed string
}

// String says in a few words who asks for what: "module app (main.tf:3): ~> 1.2".
func (u ProviderUse) String() string {
	text := moduleName(u.Path)
	switch {
	case u.Range.Filename != "":
		text += fmt.Sprintf(" (%s:%d)", u.Range.Filename, u.Range.Start.Line)
	case u.By != "":
		text = "the " + u.By // the state, which is part of no module
	}
	if u.Constraint != "" {
		text += ": " + u.Constraint
	}
	if u.Allowed != "" {
		text += fmt.Sprintf(" (alone: %s)", u.Allowed)
	}
	return text
}

func moduleName(path addrs.Module) string {
	if path.IsRoot() {
		return "the root module"
	}
	return "module " + path.String()
}

// Allows reports whether a version meets the constraint of one place.
func (u ProviderUse) Allows(version string) bool {
	v, err := versions.Parse(version)
	want, wrong := u.Constraints()
	return err == nil && wrong == nil && want.Allows(v)
}

// Constraints parses the constraint.
func (u ProviderUse) Constraints() (versions.ProviderConstraints, error) {
	if u.Constraint == "" {
		return versions.ProviderConstraints{}, nil
	}
	return versions.ParseProviderConstraints(u.Constraint)
}
