package addrs

import (
	"strings"

	regaddr "github.com/opentofu/registry-address/v2"
)

// ModuleRegistryPackage is the address of a module package in a registry. It is comparable.
type ModuleRegistryPackage struct {
	Host         Hostname
	Namespace    string
	Name         string
	TargetSystem string
}

// String returns HOST/NAMESPACE/NAME/SYSTEM, with the host in Unicode.
func (p ModuleRegistryPackage) String() string {
	if p == (ModuleRegistryPackage{}) {
		return ""
	}
	return p.Host.ForDisplay() + "/" + p.ForRegistryProtocol()
}

// ForDisplay returns String without the host if it is [DefaultRegistryHost].
func (p ModuleRegistryPackage) ForDisplay() string {
	if p.Host == DefaultRegistryHost {
		return p.ForRegistryProtocol()
	}
	return p.String()
}

// ForRegistryProtocol returns NAMESPACE/NAME/SYSTEM, the path below modules.v1. It needs no escaping.
func (p ModuleRegistryPackage) ForRegistryProtocol() string {
	return p.Namespace + "/" + p.Name + "/" + p.TargetSystem
}

// ModuleSourceRegistry is a module of a registry's package. Subdir is clean and relative; "" is the root.
type ModuleSourceRegistry struct {
	Package ModuleRegistryPackage
	Subdir  string
}

func (s ModuleSourceRegistry) String() string {
	return withSubdir(s.Package.String(), s.Subdir)
}

// ForDisplay returns the address without the default host.
func (s ModuleSourceRegistry) ForDisplay() string {
	return withSubdir(s.Package.ForDisplay(), s.Subdir)
}

// Located returns the remote address of the module, given the location of its package, whose subdirectory
// is the base of that of s. If the result leaves the package, the error is a *[ParseError] that wraps
// [ErrOutsidePackage].
func (s ModuleSourceRegistry) Located(at ModuleSourceRemote) (ModuleSourceRemote, error) {
	subdir, err := JoinSubdir(at.Subdir, s.Subdir)
	if err != nil {
		return ModuleSourceRemote{}, err
	}
	return ModuleSourceRemote{Package: at.Package, Subdir: subdir}, nil
}

// readRegistry applies only the grammar of the stock tools.
func (p Parser) readRegistry(raw string) (ModuleSourceRegistry, error) {
	found, err := regaddr.ParseModuleSource(raw)
	if err != nil {
		return ModuleSourceRegistry{}, err
	}
	pkg := found.Package
	src := ModuleSourceRegistry{
		Package: ModuleRegistryPackage{Host: Hostname(pkg.Host), Namespace: pkg.Namespace, Name: pkg.Name, TargetSystem: pkg.TargetSystem},
		Subdir:  found.Subdir,
	}
	if p.DefaultRegistryHost != "" && !namesHost(raw) {
		src.Package.Host = p.DefaultRegistryHost
	}
	return src, nil
}

// namesHost reports whether the host is written, which the library does not tell from an implied one.
func namesHost(raw string) bool {
	pkg, _ := SplitSubdir(raw)
	return strings.Count(pkg, "/") == 3
}

// check applies the rules in which this package is stricter than stock tools.
func (s ModuleSourceRegistry) check(raw string) error {
	if fault := hostFault(s.Package.Host); fault != "" {
		return registryError(raw, "hostname: "+fault, nil)
	}
	if escapes(s.Subdir) {
		return outsidePackage(raw)
	}
	return nil
}

// notRegistry returns the reason why raw cannot be a registry address, or "". It covers mistakes for
// which the library's message would mislead, or quote a part that may be a secret.
func notRegistry(raw string) string {
	pkg, _ := SplitSubdir(raw)
	switch {
	case isLocal(raw):
		return "it is a local path, which has no versions to choose from"
	case strings.Contains(pkg, "?"):
		return "a registry address has no query string; the version belongs in the version argument"
	case strings.Contains(pkg, "@"):
		return `a registry address has no user name and no "@"`
	case strings.Contains(pkg, "://"), strings.Contains(pkg, "::"):
		return "it is the address of a remote package, which has no version argument"
	}
	return ""
}

func registryError(raw, reason string, err error) *ParseError {
	return &ParseError{What: "module registry address", Input: Redact(raw), Reason: reason, Err: err}
}
