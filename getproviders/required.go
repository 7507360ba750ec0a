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
	// Path is the module's path. It is empty for the root module, and while the configuration is
	// read: the installer fills it in.
	Path     addrs.Module
	Provider addrs.Provider
	// Hostless reports whether the module leaves the host of the address to the stock tool.
	Hostless bool
	// Constraint is the version constraint as written, or "" if there is none.
	Constraint string
	// Implied reports whether the provider is implied only by a name, for example by the type of a
	// resource, and no required_providers block names it.
	Implied bool
	// By describes what requires the provider, such as "required_providers" or "resource
	// aws_instance.web".
	By string
	// Range is the place of the requirement.
	Range hcl.Range
	// Allowed is the newest version that Constraint allows by itself. It is set only in an error
	// that no version meets the constraints of all places, and is "" if Constraint allows no
	// version.
	Allowed string
}

// String returns a short description, such as "module app (main.tf:3): ~> 1.2".
func (r ProviderRequirement) String() string {
	text := moduleName(r.Path)
	switch {
	case r.Range.Filename != "":
		text += fmt.Sprintf(" (%s:%d)", r.Range.Filename, r.Range.Start.Line)
	case r.By != "":
		text = "the " + r.By // the state, which is not part of a module
	}
	if r.Constraint != "" {
		text += ": " + r.Constraint
	}
	if r.Allowed != "" {
		text += fmt.Sprintf(" (alone: %s)", r.Allowed)
	}
	return text
}

func moduleName(path addrs.Module) string {
	if path.IsRoot() {
		return "the root module"
	}
	return "module " + path.String()
}

// Allows reports whether a version meets the constraint of this place.
func (r ProviderRequirement) Allows(version string) bool {
	v, err := versions.Parse(version)
	want, wrong := r.Constraints()
	return err == nil && wrong == nil && want.Allows(v)
}

// Constraints parses the constraint.
func (r ProviderRequirement) Constraints() (versions.ProviderConstraints, error) {
	if r.Constraint == "" {
		return versions.ProviderConstraints{}, nil
	}
	return versions.ParseProviderConstraints(r.Constraint)
}
