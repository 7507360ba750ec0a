package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
)

// InterfaceChange is a difference between two versions of a module in what the module
// declares to its callers.
type InterfaceChange struct {
	// Kind is "variable", "output", "provider", "required_version", or "submodule" for the
	// directory of the package that is called.
	Kind string
	// Name is the name of the variable or the output, the local name of the provider, or
	// the path of the directory.
	Name string
	// Aspect is the part of the declaration that changed: "default", "nullable",
	// "sensitive", "ephemeral", "deprecated" or "validation", or "configuration_aliases"
	// for a provider. "" means the declaration itself.
	Aspect string
	// Old and New are the declarations before and after. For a variable, each is its type,
	// with "required " before it if it has no default. For a provider, it is the source and
	// the version constraints, and for an output "declared". An empty Old means that the
	// declaration was added, an empty New that it was removed.
	Old, New string
	// Breaking says that calls that were valid before may fail now. If the call is known,
	// Breaking is not set for variables that do not matter to it.
	Breaking bool
	// At is the place in the configuration that breaks: the argument for a variable that
	// was removed or has another type, the call that lacks an argument, or the first use of
	// an output. It is empty if the place is not known.
	At hcl.Range
}

func (c InterfaceChange) String() string {
	what := c.Kind
	if c.Name != "" {
		what = fmt.Sprintf("%s %q", c.Kind, c.Name)
	}
	where := ""
	if c.At.Filename != "" {
		where = fmt.Sprintf("%s:%d", c.At.Filename, c.At.Start.Line)
	}
	switch declared := c.New == "declared" || c.Old == "declared"; {
	case c.Aspect != "":
		return fmt.Sprintf("%s: %s %s -> %s", what, c.Aspect, orNone(c.Old), orNone(c.New)) + suffix(" (%s)", where)
	case c.Old == "" && declared:
		return what + " added"
	case c.Old == "":
		return what + " added: " + c.New + suffix(", which %s does not set", where)
	case c.New == "" && c.Kind == "output":
		return what + " removed" + suffix(", which %s uses", where)
	case c.New == "":
		return what + " removed" + suffix(", which %s sets", where)
	}
	return fmt.Sprintf("%s changed: %s -> %s", what, c.Old, c.New) + suffix(" (%s)", where)
}

// InterfaceDiff lists what the new package of a call changes for the caller.
type InterfaceDiff struct {
	Path addrs.Module
	// Changes has the breaking changes first.
	Changes []InterfaceChange
	// Err says why the packages could not be compared.
	Err error
}

// maxShown is the maximum length of a default or a rule in a message, in bytes.
const maxShown = 60

func orNone(text string) string {
	switch {
	case text == "":
		return "(none)"
	case len(text) > maxShown:
		return text[:maxShown] + "..."
	}
	return text
}

func suffix(format, text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(format, text)
}
