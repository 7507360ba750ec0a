package addrs

import (
	"strings"

	regaddr "github.com/opentofu/registry-address/v2"
)

// readRegistry applies the stock grammar and nothing else.
func (p Parser) readRegistry(raw string) (ModuleSourceRegistry, error) {
	found, err := regaddr.ParseModuleSource(raw)
	if err != nil {
		return ModuleSourceRegistry{}, err
	}
	src := ModuleSourceRegistry{
		Package: ModuleRegistryPackage(found.Package),
		Subdir:  found.Subdir,
	}
	if p.DefaultRegistryHost != "" && !namesHost(raw) {
		src.Package.Host = p.DefaultRegistryHost
	}
	return src, nil
}

// namesHost tells a written default host from an implied one, which the
// registry-address library renders alike.
func namesHost(raw string) bool {
	pkg, _ := SplitSubdir(raw)
	return strings.Count(pkg, "/") == 3
}

// check makes the rules on which this package is stricter than the stock
// grammar.
func (s ModuleSourceRegistry) check(raw string) error {
	if fault := hostFault(s.Package.Host); fault != "" {
		return registryError(raw, "hostname: "+fault, nil)
	}
	if escapes(s.Subdir) {
		return outsidePackage(raw)
	}
	return nil
}

// notRegistry gives the reason for which raw is surely not a registry address,
// for those mistakes where the library's message would be misleading or would
// quote a part of the address that may be a secret.
func notRegistry(raw string) string {
	pkg, _ := SplitSubdir(raw)
	switch {
	case isLocal(raw):
		return "it is a local path, which has no versions to choose from"
	case strings.Contains(pkg, "?"):
		return "a registry address has no query string; the version belongs in the version argument"
	case strings.Contains(pkg, "@"):
		return `a registry address holds no user name and no "@"`
	case strings.Contains(pkg, "://"), strings.Contains(pkg, "::"):
		return "it is the address of a remote package, which has no version argument"
	}
	return ""
}

func registryError(raw, reason string, err error) *ParseError {
	return &ParseError{What: "module registry address", Input: raw, Reason: reason, Err: err}
}
