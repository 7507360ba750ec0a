package addrs

// ModuleRegistryPackage is the address of a module package in a registry. It is comparable.
type ModuleRegistryPackage struct {
	Host         Hostname
	Namespace    string
	Name         string
	TargetSystem string
}

// String returns HOST/NAMESPACE/NAME/SYSTEM, with the host in Unicode.
func (p ModuleRegistryPackage) String() string {
	return displayHost(p.Host) + "/" + p.ForRegistryProtocol()
}

// ForDisplay returns String without the host if it is [DefaultRegistryHost].
func (p ModuleRegistryPackage) ForDisplay() string {
	if p.Host == DefaultRegistryHost {
		return p.ForRegistryProtocol()
	}
	return p.String()
}

// ForRegistryProtocol returns NAMESPACE/NAME/SYSTEM, which is the path below the host's
// modules.v1 service. A parsed package needs no escaping.
func (p ModuleRegistryPackage) ForRegistryProtocol() string {
	return p.Namespace + "/" + p.Name + "/" + p.TargetSystem
}

// ModuleSourceRegistry is a module in a package that a module registry lists. Subdir is a
// clean relative path; "" is the package's root.
type ModuleSourceRegistry struct {
	Package ModuleRegistryPackage
	Subdir  string
}

// String returns the address, always with the host.
func (s ModuleSourceRegistry) String() string {
	return withSubdir(s.Package.String(), s.Subdir)
}

// ForDisplay returns the address without the default host.
func (s ModuleSourceRegistry) ForDisplay() string {
	return withSubdir(s.Package.ForDisplay(), s.Subdir)
}

// Located returns the remote address of the module, given the location of its package from
// the registry. The subdirectory of s is relative to that of the location. If the result
// leaves the location's package, the error is a *[ParseError] that wraps
// [ErrOutsidePackage].
func (s ModuleSourceRegistry) Located(at ModuleSourceRemote) (ModuleSourceRemote, error) {
	subdir, err := JoinSubdir(at.Subdir, s.Subdir)
	if err != nil {
		return ModuleSourceRemote{}, err
	}
	return ModuleSourceRemote{Package: at.Package, Subdir: subdir}, nil
}
