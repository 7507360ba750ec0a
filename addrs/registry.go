package addrs

// ModuleRegistryPackage names a module package in a registry. It is
// comparable.
type ModuleRegistryPackage struct {
	Host         Hostname
	Namespace    string
	Name         string
	TargetSystem string
}

// String is HOST/NAMESPACE/NAME/SYSTEM, with the host in Unicode.
func (p ModuleRegistryPackage) String() string {
	return displayHost(p.Host) + "/" + p.ForRegistryProtocol()
}

// ForDisplay is String without the host where that is [DefaultRegistryHost].
func (p ModuleRegistryPackage) ForDisplay() string {
	if p.Host == DefaultRegistryHost {
		return p.ForRegistryProtocol()
	}
	return p.String()
}

// ForRegistryProtocol is NAMESPACE/NAME/SYSTEM, the path under the modules.v1
// service of the host. A parsed package needs no escaping in it.
func (p ModuleRegistryPackage) ForRegistryProtocol() string {
	return p.Namespace + "/" + p.Name + "/" + p.TargetSystem
}

// ModuleSourceRegistry is a module inside a package that a module registry
// lists. Subdir is a clean relative path, "" for the package's root.
type ModuleSourceRegistry struct {
	Package ModuleRegistryPackage
	Subdir  string
}

// String is the address with the host always written.
func (s ModuleSourceRegistry) String() string {
	return withSubdir(s.Package.String(), s.Subdir)
}

// ForDisplay is the address without the default host.
func (s ModuleSourceRegistry) ForDisplay() string {
	return withSubdir(s.Package.ForDisplay(), s.Subdir)
}

// Located is where the module is to be found, given the location that the
// registry answered for its package: the location's own subdirectory first,
// then that of s beneath it. If s leads out of the location's package, the
// error is a *[ParseError] that wraps [ErrOutsidePackage].
func (s ModuleSourceRegistry) Located(at ModuleSourceRemote) (ModuleSourceRemote, error) {
	subdir, err := JoinSubdir(at.Subdir, s.Subdir)
	if err != nil {
		return ModuleSourceRemote{}, err
	}
	return ModuleSourceRemote{Package: at.Package, Subdir: subdir}, nil
}
