package addrs

import (
	"slices"

	regaddr "github.com/opentofu/registry-address/v2"
	"github.com/opentofu/svchost"

	cotter "github.com/cotterpin/cotter/addrs"
)

// ParseModuleSourceVersioned parses the address of a call with a version constraint. That is an address of a
// registry, of git or of OCI.
func ParseModuleSourceVersioned(raw string) (ModuleSource, error) {
	found, err := ParseModuleSource(raw)
	if remote, ok := found.(ModuleSourceRemote); err == nil && ok {
		getter := cotter.ParseModulePackage(remote.Package.String()).Getter()
		if slices.Contains([]string{"git", "oci"}, getter) {
			return found, nil
		}
	}
	return ParseModuleSourceRegistry(raw)
}

// StockPackage returns the address of a package in a registry as OpenTofu has it, and CotterPackage
// is its inverse.
func StockPackage(pkg cotter.ModuleRegistryPackage) regaddr.ModulePackage {
	return regaddr.ModulePackage{Host: svchost.Hostname(pkg.Host), Namespace: pkg.Namespace, Name: pkg.Name, TargetSystem: pkg.TargetSystem}
}

func CotterPackage(pkg regaddr.ModulePackage) cotter.ModuleRegistryPackage {
	return cotter.ModuleRegistryPackage{Host: cotter.Hostname(pkg.Host), Namespace: pkg.Namespace, Name: pkg.Name, TargetSystem: pkg.TargetSystem}
}
