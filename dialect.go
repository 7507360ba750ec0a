package cotter

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/manifest"
	"github.com/cotterpin/cotter/lockfile"
)

// Dialect is the stock tool whose conventions apply: which registry an address
// without a host means, and which files are configuration.
type Dialect int

// The dialects. DialectAuto finds out: by the hosts of the lock's providers,
// by .tofu files in the root module, by the sources in modules.json, and for
// want of all that it is OpenTofu's.
const (
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

// registryHost is the host that an address without one means.
func (d Dialect) registryHost() addrs.Hostname {
	if d == DialectTerraform {
		return addrs.TerraformRegistryHost
	}
	return addrs.DefaultRegistryHost
}

// parser parses source addresses as the stock tool does.
func (d Dialect) parser() addrs.Parser { return addrs.Parser{DefaultRegistryHost: d.registryHost()} }

// detectDialect finds out whose project this is.
func detectDialect(dir string, lock *lockfile.File, recorded *manifest.Manifest) Dialect {
	if d := dialectOfHosts(lock.Providers()); d != DialectAuto {
		return d
	}
	if files, err := fs.Glob(os.DirFS(dir), "*.tofu*"); err == nil {
		for _, file := range files {
			if path.Ext(file) == ".tofu" || strings.HasSuffix(file, ".tofu.json") {
				return DialectOpenTofu
			}
		}
	}
	var sources []string
	for _, m := range lock.Modules() {
		sources = append(sources, m.Source)
	}
	for _, record := range recorded.Records() {
		sources = append(sources, record.Source)
	}
	if d := dialectOfHosts(sources); d != DialectAuto {
		return d
	}
	return DialectOpenTofu
}

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
