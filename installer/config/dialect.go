package config

import (
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/text/textform"
)

// Dialect is the stock tool whose conventions apply: the registry of addresses without a host, and the files
// that are configuration.
type Dialect int

// The dialects.
const (
	// DialectAuto detects the tool by the project's files or else by the tools that the user has, and assumes OpenTofu if
	// there is no sign. The page docs/stock-tools.md lists the signs. An event.Warning of an installation says
	// what was assumed if an address depends on it and the signs are missing or contradict each other.
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

var dialectNames = textform.Enum[Dialect]{Type: "Dialect", Names: []string{"auto", "tofu", "terraform"}}

// String returns the name of the stock command.
func (d Dialect) String() string { return dialectNames.Text(d) }

// MarshalText fails for an unknown value.
func (d Dialect) MarshalText() ([]byte, error) { return dialectNames.Marshal(d) }

// UnmarshalText reads what String returns.
func (d *Dialect) UnmarshalText(text []byte) error { return dialectNames.Unmarshal(text, d) }

// RegistryHost returns the host of registry addresses that name none. That of DialectAuto is OpenTofu's.
func (d Dialect) RegistryHost() addrs.Hostname {
	if d == DialectTerraform {
		return addrs.TerraformRegistryHost
	}
	return addrs.DefaultRegistryHost
}

// Parser returns the parser of addresses.
func (d Dialect) Parser() addrs.Parser { return addrs.Parser{DefaultRegistryHost: d.RegistryHost()} }
