package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// ProviderRequirement is one place where a module requires a provider: an entry of
// required_providers, a provider block, or something that implies a provider.
type ProviderRequirement struct {
	// Path is empty while the configuration is read: the installer fills it in.
	Path     addrs.Module
	Provider addrs.Provider
	// Hostless reports whether the module leaves the host of the address to the stock tool.
	Hostless bool
	// Constraint is the version constraint as written, or "" without a constraint.
	Constraint string
	// ConstraintRange is the expression of the constraint, which package edit can replace. It is
	// empty if there is no constraint.
	ConstraintRange hcl.Range
	// Implied reports whether the provider is implied only by a name, for example by the type of a
	// resource, and no required_providers block names it.
	Implied bool
	// By describes what requires the provider, such as "required_providers" or "resource
	// aws_instance.web".
	By    string
	Range hcl.Range
	// Allowed is the newest version that Constraint allows by itself, or "" if it allows no version. It is
	// set only in an error that no version meets the constraints of all places.
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
func (r ProviderRequirement) Allows(version versions.Version) bool {
	want, err := r.Constraints()
	return err == nil && want.Allows(version)
}

// Constraints parses the constraint.
func (r ProviderRequirement) Constraints() (versions.ProviderConstraints, error) {
	if r.Constraint == "" {
		return versions.ProviderConstraints{}, nil
	}
	return versions.ParseProviderConstraints(r.Constraint)
}

// ProviderError is an error about one provider. It wraps, for example, a *getproviders.MismatchError, a
// *registryclient.RequestError, an error of package versions, a *policy.Violation, an
// *UnknownProviderError, an *UnusableVersionError, or a sentinel of package installer.
type ProviderError struct {
	Provider addrs.Provider
	// Version is the selected version; zero if none was selected.
	Version    versions.Version
	RequiredBy []ProviderRequirement
	Err        error
}

func (e *ProviderError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "provider %s", e.Provider.ForDisplay())
	if !e.Version.IsZero() {
		fmt.Fprintf(&b, " %s", e.Version)
	}
	fmt.Fprintf(&b, ": %s", e.Err)
	for _, line := range e.Requirements() {
		b.WriteString("\n  " + line)
	}
	return b.String()
}

const maxUses = 20

// Requirements describes the places that require the provider, one per line: "required by module
// app (main.tf:3): ~> 1.2". If there are more than 20, places with the same constraint share a
// line.
func (e *ProviderError) Requirements() []string {
	var lines []string
	if len(e.RequiredBy) <= maxUses {
		for _, use := range e.RequiredBy {
			lines = append(lines, "required by "+use.String())
		}
		return lines
	}
	var first []ProviderRequirement
	others := make(map[string]int)
	for _, use := range e.RequiredBy {
		if others[use.Constraint]++; others[use.Constraint] == 1 {
			first = append(first, use)
		}
	}
	for _, use := range first {
		line := "required by " + use.String()
		if n := others[use.Constraint] - 1; n > 0 {
			line += fmt.Sprintf(", and in %d more places", n)
		}
		lines = append(lines, line)
	}
	return lines
}

func (e *ProviderError) Unwrap() error { return e.Err }

// UnknownProviderError says that no source has a provider. It suggests other providers that may
// be meant.
type UnknownProviderError struct {
	// SameType are the other required providers with the same type.
	SameType []addrs.Provider
	// Renamed is the address that replaces the provider according to its registry. It is zero if
	// the registry names none.
	Renamed addrs.Provider
	// ImpliedBy is the first place that implies the provider by a name, or nil if all modules
	// declare its source.
	ImpliedBy *ProviderRequirement
	Err       error
}

func (e *UnknownProviderError) Error() string { return fmt.Sprint(e.Err) + e.Suffix() }

// Suffix returns the end of the error's text, which names the other providers.
func (e *UnknownProviderError) Suffix() (text string) {
	if len(e.SameType) > 0 {
		text += fmt.Sprintf("; the configuration also requires %s, of the same type", listed(e.SameType, addrs.Provider.ForDisplay))
	}
	if use := e.ImpliedBy; use != nil {
		text += fmt.Sprintf("; %s has no source for it, and %s implies this one", moduleName(use.Path), use.By)
	}
	return text
}

func (e *UnknownProviderError) Unwrap() error { return e.Err }

// UnusableVersionError says that a version of a provider has no usable package for a platform. It
// suggests another version that has one.
type UnusableVersionError struct {
	Platform addrs.Platform
	// Platforms are the platforms for which the version has packages, sorted. It is nil if its
	// source does not list them.
	Platforms []addrs.Platform
	// Unlisted reports whether the source does not list the version, or no longer lists it.
	Unlisted bool
	// Other is the newest version that has a package for the platform and that stock tools can
	// run. If Allowed is set, it is the newest of those that all modules allow. It is zero if
	// there is no such version.
	Other   versions.Version
	Allowed bool
	// Unknown are the other versions of which the source does not list the platforms.
	Unknown []versions.Version
	Err     error
}

func (e *UnusableVersionError) Error() string { return fmt.Sprint(e.Err) + e.Suffix() }

// Suffix returns the end of the error's text, which names platforms and the other version.
func (e *UnusableVersionError) Suffix() string {
	var b strings.Builder
	switch {
	case e.Unlisted:
		b.WriteString("; the version is not listed")
	case len(e.Platforms) > 0 && !slices.Contains(e.Platforms, e.Platform):
		fmt.Fprintf(&b, "; it is available for %s", listed(e.Platforms, addrs.Platform.String))
	}
	switch {
	case e.Other.IsZero() && len(e.Unknown) > 0:
		newest := slices.SortedFunc(slices.Values(e.Unknown), func(a, b versions.Version) int { return b.Compare(a) })
		fmt.Fprintf(&b, "; the source does not list platforms, so it is not known whether another version can be used on %s: it has %s", e.Platform, listed(newest[:min(len(newest), maxUses)], versions.Version.String))
	case e.Other.IsZero():
		fmt.Fprintf(&b, "; no other version can be used on %s", e.Platform)
	case e.Allowed:
		fmt.Fprintf(&b, "; the newest version that can be used on %s is %s", e.Platform, e.Other)
	default:
		fmt.Fprintf(&b, "; the newest version that can be used on %s is %s, which the constraints exclude", e.Platform, e.Other)
	}
	return b.String()
}

func (e *UnusableVersionError) Unwrap() error { return e.Err }

func listed[T any](all []T, name func(T) string) string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = name(one)
	}
	return strings.Join(names, ", ")
}
