package addrs

// Parser parses module source addresses for one dialect. The zero value is
// OpenTofu's.
type Parser struct {
	// DefaultRegistryHost is the registry of an address that names none.
	// Empty means [DefaultRegistryHost].
	DefaultRegistryHost Hostname
}

// ParseModuleSource parses the source argument of a module call that has no
// version argument, with the default registry of OpenTofu. See
// [Parser.ParseModuleSource].
func ParseModuleSource(raw string) (ModuleSource, error) {
	return Parser{}.ParseModuleSource(raw)
}

// ParseModuleSource parses the source argument of a module call that has no
// version argument. The package comment gives the order in which the kinds of
// address are tried. Spaces around the address are not removed. The error is a
// *[ParseError].
func (p Parser) ParseModuleSource(raw string) (ModuleSource, error) {
	if isLocal(raw) {
		return parseLocal(raw), nil
	}
	// Whatever is not a registry address falls through to the remote ones:
	// that is what makes it one or the other, and why the reason for which the
	// registry grammar refused it is lost.
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

// ParseModuleSourceRegistry parses an address that has to be a registry
// address, which is so wherever a version argument stands beside it. It
// accepts no more than [Parser.ParseModuleSource] does, but says what is wrong
// with an address of that kind. The error is a *[ParseError].
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
