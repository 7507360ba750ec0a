package cotter

import (
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

// Dialect is the stock tool whose conventions apply: which registry an address
// without a host means, and which files are configuration.
type Dialect int

// The dialects.
const (
	// DialectAuto finds out whose project it is. The first of these that tells
	// decides:
	//
	//  1. the hosts of the providers in the lock, and in .terraform.lock.hcl if
	//     that is another file
	//  2. the hosts of the modules in the lock
	//  3. files in the root module that only OpenTofu reads, *.tofu and
	//     *.tofu.json
	//  4. the hosts in modules.json
	//  5. the comment at the beginning of the lock: "tofu init" or "terraform
	//     init"
	//  6. .opentofu-version, .terraform-version, and opentofu or terraform in
	//     .tool-versions, in the nearest directory that has some, from the root
	//     module's up to that of the git repository
	//  7. a cloud block or a remote backend at app.terraform.io, which is also
	//     the host of one that names none
	//  8. a required_version that no version of OpenTofu meets
	//  9. Request.Tools, if it has one tool only and one of the user's own modules
	//     calls a registry's module without a host
	//
	// For want of all that it is OpenTofu's. In 1, 2 and 4 OpenTofu's registry
	// decides if both occur, and a module whose host the root module writes
	// itself says nothing. What is a symbolic link or no regular file is not
	// looked at. A [Warning] says what was assumed if one of these contradicts
	// another, or none tells, and the configuration has a registry's module
	// without a host.
	DialectAuto Dialect = iota
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

// String is the name of the stock command.
func (d Dialect) String() string {
	switch d {
	case DialectOpenTofu:
		return "tofu"
	case DialectTerraform:
		return "terraform"
	}
	return "auto"
}

// other is the other stock tool.
func (d Dialect) other() Dialect {
	if d == DialectTerraform {
		return DialectOpenTofu
	}
	return DialectTerraform
}

// registryHost is the host that an address without one means.
func (d Dialect) registryHost() addrs.Hostname {
	if d == DialectTerraform {
		return addrs.TerraformRegistryHost
	}
	return addrs.DefaultRegistryHost
}

// parser parses source addresses as the stock tool does.
func (d Dialect) parser() addrs.Parser { return addrs.Parser{DefaultRegistryHost: d.registryHost()} }

// dialectOfHosts judges by the hosts of addresses. OpenTofu's registry decides
// where both occur: a configuration for tofu may well name Terraform's registry
// in full, which is rare the other way round.
func dialectOfHosts(addresses []string) Dialect {
	found := DialectAuto
	for _, address := range addresses {
		host, _, _ := strings.Cut(address, "/")
		switch addrs.Hostname(host) {
		case addrs.DefaultRegistryHost:
			return DialectOpenTofu
		case addrs.TerraformRegistryHost:
			found = DialectTerraform
		}
	}
	return found
}
