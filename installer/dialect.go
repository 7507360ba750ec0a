package installer

import (
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/detect"
)

// Dialect is the stock tool whose conventions apply: the registry of addresses without a host, and the files
// that are configuration.
type Dialect int

// The dialects.
const (
	// DialectAuto detects the tool by the project's files or else by [Project.Tools], and assumes OpenTofu if
	// there is no sign. The page docs/stock-tools.md lists the signs. An [event.Warning] says what was assumed
	// if an address depends on it and the signs are missing or contradict each other.
	DialectAuto Dialect = iota
	// DialectOpenTofu takes over the versions that Terraform has locked: without an entry of its own,
	// registry.opentofu.org/hashicorp/NAME has the version, but not the hashes, of
	// registry.terraform.io/hashicorp/NAME.
	DialectOpenTofu
	DialectTerraform
)

// ParseDialect parses "tofu", "terraform" or "auto".
func ParseDialect(s string) (Dialect, error) {
	switch s {
	case "", "auto":
		return DialectAuto, nil
	case "tofu", "opentofu":
		return DialectOpenTofu, nil
	case "terraform":
		return DialectTerraform, nil
	}
	return DialectAuto, fmt.Errorf("%q is neither \"tofu\" nor \"terraform\"", s)
}

var dialectNames = enum[Dialect]{"Dialect", []string{"auto", "tofu", "terraform"}}

// String returns the name of the stock command.
func (d Dialect) String() string { return dialectNames.text(d) }

// MarshalText fails for an unknown value.
func (d Dialect) MarshalText() ([]byte, error) { return dialectNames.marshal(d) }

// UnmarshalText reads what String returns.
func (d *Dialect) UnmarshalText(text []byte) error { return dialectNames.unmarshal(text, d) }

func (d Dialect) other() Dialect {
	if d == DialectTerraform {
		return DialectOpenTofu
	}
	return DialectTerraform
}

func (d Dialect) registryHost() addrs.Hostname { return d.tool().RegistryHost() }

func (d Dialect) parser() addrs.Parser { return d.tool().Parser() }

func (d Dialect) tool() detect.Tool {
	if d == DialectTerraform {
		return detect.Terraform
	}
	return detect.OpenTofu
}

func dialectOf(tool detect.Tool) Dialect {
	if tool == detect.Terraform {
		return DialectTerraform
	}
	return DialectOpenTofu
}

// DialectSign is something in a project that shows which stock tool it is for.
type DialectSign struct {
	Dialect Dialect
	What    string // describes the sign in messages: "the hosts of the lock's providers"
}
