package addrs

// Parser parses module and provider source addresses in one dialect. The zero value uses
// the dialect of OpenTofu.
type Parser struct {
	// DefaultRegistryHost is the registry of addresses without a host. Empty means
	// [DefaultRegistryHost].
	DefaultRegistryHost Hostname
}

// ParseModuleSource parses the source argument of a module call that has no
// version argument, with the default registry of OpenTofu. See
// [Parser.ParseModuleSource].
func ParseModuleSource(raw string) (ModuleSource, error) {
	return Parser{}.ParseModuleSource(raw)
}

// ParseModuleSource parses the source argument of a module call that has no version
// argument. The package comment lists the kinds of address in the order in which they are
// tried. Spaces around the address are not removed. The error is a *[ParseError].
func (p Parser) ParseModuleSource(raw string) (ModuleSource, error) {
	if isLocal(raw) {
		return parseLocal(raw), nil
	}
	// An address that is not a registry address is parsed as a remote one, so the error of
	// the registry grammar is dropped.
	if found, err := p.readRegistry(raw); err == nil {
		if err := found.check(raw); err != nil {
			return nil, err
		}
		return found, nil
	}
	found, err := parseRemote(raw)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// ParseModuleSourceRegistry parses the source argument of a module call that
// has a version argument, with the default registry of OpenTofu. See
// [Parser.ParseModuleSourceRegistry].
func ParseModuleSourceRegistry(raw string) (ModuleSourceRegistry, error) {
	return Parser{}.ParseModuleSourceRegistry(raw)
}

// ParseModuleSourceRegistry parses the source argument of a module call that has a
// version argument, which must be a registry address. It accepts the same registry
// addresses as [Parser.ParseModuleSource], and returns specific errors for them. The
// error is a *[ParseError].
func (p Parser) ParseModuleSourceRegistry(raw string) (ModuleSourceRegistry, error) {
	if reason := notRegistry(raw); reason != "" {
		return ModuleSourceRegistry{}, registryError(raw, reason, nil)
	}
	found, err := p.readRegistry(raw)
	if err != nil {
		return ModuleSourceRegistry{}, registryError(raw, err.Error(), err)
	}
	if err := found.check(raw); err != nil {
		return ModuleSourceRegistry{}, err
	}
	return found, nil
}
