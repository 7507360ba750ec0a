package registryclient

import (
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// The services of registries in discovery.
const (
	modulesService   = "modules.v1"
	providersService = "providers.v1"
)

// subject is what a request is about: a module or a provider, or a version of it if
// there is one. It is comparable.
type subject struct {
	module   addrs.ModuleRegistryPackage
	provider addrs.Provider
	version  versions.Version
	platform addrs.Platform // of a provider's package
}

func (s subject) isProvider() bool { return s.provider != addrs.Provider{} }

// host returns the host of the registry.
func (s subject) host() addrs.Hostname {
	if s.isProvider() {
		return s.provider.Hostname
	}
	return s.module.Host
}

// service returns the service that the registry has to offer.
func (s subject) service() string {
	if s.isProvider() {
		return providersService
	}
	return modulesService
}

// notFound returns what the status 404 means.
func (s subject) notFound() error {
	if s.platform != (addrs.Platform{}) {
		return ErrUnsupportedPlatform
	}
	return ErrNotFound
}

// segments returns the segments of the URL of an endpoint below that of the service.
// last are those behind the address and the version.
func (s subject) segments(last ...string) []string {
	address := []string{s.module.Namespace, s.module.Name, s.module.TargetSystem}
	if s.isProvider() {
		address = []string{s.provider.Namespace, s.provider.Type}
	}
	if !s.version.IsZero() {
		address = append(address, s.version.String())
	}
	return slices.Concat(address, last)
}
