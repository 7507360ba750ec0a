package installer

import (
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/detect"
)

// Dialect is the stock tool whose conventions apply. It determines the registry of
// addresses without a host, and the files that are configuration.
type Dialect int

// The dialects.
const (
	// DialectAuto detects which tool the project is for. The first of these signs decides:
	//
	//  1. the hosts of the providers in the lock, and in .terraform.lock.hcl if that is
	//     another file
	//  2. the hosts of the modules in the lock
	//  3. files in the root module that only OpenTofu reads, *.tofu and *.tofu.json
	//  4. the hosts in modules.json
	//  5. the comment at the beginning of the lock: "tofu init" or "terraform init"
	//  6. .opentofu-version, .terraform-version, and opentofu or terraform in
	//     .tool-versions, in the nearest directory that has one of them, from the root
	//     module's directory up to the root of the git repository
	//  7. a cloud block or a remote backend at app.terraform.io, which is also the
	//     default host of such a block
	//  8. a required_version that no version of OpenTofu meets
	//  9. Project.Tools, if it has only one tool and one of the user's own modules
	//     calls a registry's module, or requires a provider, without a host
	//
	// Without any of these signs, the only one of Project.Tools is assumed, because packages may
	// have such addresses, or else OpenTofu. If the hosts of both registries
	// occur in 1, 2 or 4, OpenTofu's decides. A module whose host is written in the root
	// module is not a sign. Symbolic links and irregular files are not read. If the
	// configuration calls a registry's module or requires a provider without a host, and the
	// signs are absent and Project.Tools are not one tool, or the signs contradict each other, an
	// [event.Warning] says what was assumed. It also
	// does if the hosts in 1 decide against the only tool of Project.Tools, or any sign
	// decides against Project.Next.
	DialectAuto Dialect = iota
	// DialectOpenTofu takes over the versions that Terraform has locked: without an entry of
	// its own, registry.opentofu.org/hashicorp/NAME has the locked version of
	// registry.terraform.io/hashicorp/NAME, but not its hashes.
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

// MarshalText implements encoding.TextMarshaler. An unknown value is an error.
func (d Dialect) MarshalText() ([]byte, error) { return dialectNames.marshal(d) }

// UnmarshalText implements encoding.TextUnmarshaler. An unknown text is an error.
func (d *Dialect) UnmarshalText(text []byte) error { return dialectNames.unmarshal(text, d) }

func (d Dialect) other() Dialect {
	if d == DialectTerraform {
		return DialectOpenTofu
	}
	return DialectTerraform
}

func (d Dialect) registryHost() addrs.Hostname { return d.tool().RegistryHost() }

// parser returns a parser for source addresses as the stock tool reads them.
func (d Dialect) parser() addrs.Parser { return d.tool().Parser() }

// tool returns the stock tool; OpenTofu if the dialect is not known.
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

// DialectSign is something in a project that shows which stock tool the project is for.
type DialectSign struct {
	Dialect Dialect
	// What describes the sign in messages: "the hosts of the lock's providers".
	What string
}
