package cotter

import (
	"context"
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/detect"
)

// Dialect is the stock tool whose conventions apply: which registry an address
// without a host means, and which files are configuration.
type Dialect int

// The dialects.
const (
	// DialectAuto finds out which tool the project is for. The first of these signs
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
	// Without any of these it is OpenTofu's. In 1, 2 and 4 OpenTofu's registry
	// decides if both occur, and a module whose host the root module writes itself
	// is no sign. Symbolic links and irregular files are not read. A [Warning] says
	// what was assumed if the configuration calls a registry's module without a
	// host and the signs contradict each other or are absent.
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
func (d Dialect) registryHost() addrs.Hostname { return d.tool().RegistryHost() }

// parser parses source addresses as the stock tool does.
func (d Dialect) parser() addrs.Parser { return d.tool().Parser() }

// tool is the stock tool; OpenTofu if the dialect is not known.
func (d Dialect) tool() detect.Tool {
	if d == DialectTerraform {
		return detect.Terraform
	}
	return detect.OpenTofu
}

// FindDialect returns the dialect of a project: that of the request, or the one that
// DialectAuto finds out. It reports whether there is a sign of it, or the request
// names it; else it is a guess.
func (in *Installer) FindDialect(ctx context.Context, req Request) (_ Dialect, known bool, err error) {
	p, err := in.view(ctx, req)
	if err != nil {
		return DialectAuto, false, err
	}
	return p.dialect, p.dialectGiven || !p.detected.guessed(), p.close()
}

// detection is the dialect of a project for which the request names none, and why.
type detection struct {
	dialect Dialect
	// signs are all that were found, the one that decided first. Without any the
	// dialect is a guess.
	signs []detect.Sign
}

func detectDialect(ctx context.Context, p detect.Project, tools []Dialect) detection {
	for _, t := range tools {
		if t != DialectAuto {
			p.Tools = append(p.Tools, t.tool())
		}
	}
	found := detection{dialect: DialectOpenTofu, signs: detect.Signs(ctx, p)}
	if len(found.signs) > 0 && found.signs[0].Tool == detect.Terraform {
		found.dialect = DialectTerraform
	}
	return found
}

// guessed reports whether the project has no sign of either tool.
func (d detection) guessed() bool { return len(d.signs) == 0 }

// contradiction returns the first sign of the other tool, or an empty string if
// all signs agree.
func (d detection) contradiction() string {
	for _, s := range d.signs {
		if s.Tool != d.dialect.tool() {
			return s.What
		}
	}
	return ""
}
