package addrs

import (
	"errors"
	"path"

	"github.com/opentofu/opentofu/internal/getmodules"
	regaddr "github.com/opentofu/registry-address/v2"

	cotter "github.com/cotterpin/cotter/addrs"
)

// DefaultModuleRegistryHost is the registry of addresses without a host.
const DefaultModuleRegistryHost = regaddr.DefaultModuleRegistryHost

// ModuleSource is one of ModuleSourceLocal, ModuleSourceRegistry and ModuleSourceRemote.
type ModuleSource interface {
	String() string
	ForDisplay() string
	moduleSource()
}

// ModuleSourceLocal is a path relative to the directory of the calling module.
type ModuleSourceLocal string

// ModuleSourceRegistry is a module in a registry.
type ModuleSourceRegistry regaddr.Module

// ModuleSourceRemote is a module in a package at a physical location.
type ModuleSourceRemote struct {
	Package ModulePackage
	Subdir  string
}

func (ModuleSourceLocal) moduleSource()    {}
func (ModuleSourceRegistry) moduleSource() {}
func (ModuleSourceRemote) moduleSource()   {}

// ParseModuleSource parses an address of any kind.
func ParseModuleSource(raw string) (ModuleSource, error) {
	found, err := cotter.ParseModuleSource(raw)
	if err != nil {
		return nil, stockError(err)
	}
	return convertSource(found), nil
}

// ParseModuleSourceRegistry parses an address that must be a registry's.
func ParseModuleSourceRegistry(raw string) (ModuleSource, error) {
	found, err := cotter.ParseModuleSourceRegistry(raw)
	if err != nil {
		return nil, stockError(err)
	}
	return convertSource(found), nil
}

// MustParseModuleSource is ParseModuleSource for addresses that are known to be valid.
func MustParseModuleSource(raw string) ModuleSource {
	found, err := ParseModuleSource(raw)
	if err != nil {
		panic(err)
	}
	return found
}

func parseModuleSourceRemote(raw string) (ModuleSourceRemote, error) {
	found, err := ParseModuleSource(raw)
	remote, ok := found.(ModuleSourceRemote)
	if err == nil && !ok {
		err = errors.New("not the address of a remote package")
	}
	return remote, err
}

// isModuleSourceLocal is called by the rest of the package.
func isModuleSourceLocal(raw string) bool {
	found, err := cotter.ParseModuleSource(raw)
	_, ok := found.(cotter.ModuleSourceLocal)
	return err == nil && ok
}

func convertSource(source cotter.ModuleSource) ModuleSource {
	switch s := source.(type) {
	case cotter.ModuleSourceLocal:
		return ModuleSourceLocal(s)
	case cotter.ModuleSourceRegistry:
		return ModuleSourceRegistry{Package: StockPackage(s.Package), Subdir: s.Subdir}
	case cotter.ModuleSourceRemote:
		return ModuleSourceRemote{Package: ModulePackage(s.Package.String()), Subdir: s.Subdir}
	}
	panic("unknown kind of module source")
}

// stockError returns the error type by which OpenTofu recognizes a path without "./", and
// otherwise the reason alone, because OpenTofu's messages name the address already.
func stockError(err error) error {
	var parse *cotter.ParseError
	switch {
	case !errors.As(err, &parse):
		return err
	case parse.MaybeLocal:
		return &getmodules.MaybeRelativePathErr{Addr: parse.Input}
	}
	return errors.New(parse.Reason)
}

func (s ModuleSourceLocal) String() string { return string(s) }

// ForDisplay returns the address as users write it.
func (s ModuleSourceLocal) ForDisplay() string { return string(s) }

func (s ModuleSourceRegistry) cotter() cotter.ModuleSourceRegistry {
	return cotter.ModuleSourceRegistry{Package: CotterPackage(s.Package), Subdir: s.Subdir}
}

func (s ModuleSourceRegistry) String() string { return s.cotter().String() }

// ForDisplay returns the address as users write it.
func (s ModuleSourceRegistry) ForDisplay() string { return s.cotter().ForDisplay() }

func (s ModuleSourceRemote) String() string {
	remote := cotter.ModuleSourceRemote{Package: cotter.ParseModulePackage(s.Package.String()), Subdir: s.Subdir}
	return remote.String()
}

// ForDisplay returns the address as OpenTofu shows it, which is with credentials.
func (s ModuleSourceRemote) ForDisplay() string { return s.String() }

// FromRegistry returns the address of a module of which a registry gave the location s.
// Cotter's Located refuses a subdirectory outside of the package, but this method cannot fail.
func (s ModuleSourceRemote) FromRegistry(given ModuleSourceRegistry) ModuleSourceRemote {
	joined, err := cotter.JoinSubdir(s.Subdir, given.Subdir)
	if err != nil {
		joined = path.Join(s.Subdir, given.Subdir)
	}
	s.Subdir = joined
	return s
}
