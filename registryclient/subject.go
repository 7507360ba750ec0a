package registryclient

import (
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// The service identifiers of registries, for discovery.
const (
	modulesService   = "modules.v1"
	providersService = "providers.v1"
)

// subject is the subject of a request: a module or a provider, and possibly a version of
// it. It is comparable.
type subject struct {
	module   addrs.ModuleRegistryPackage
	provider addrs.Provider
	version  versions.Version
	platform addrs.Platform // set for a provider's package
}

func (s subject) isProvider() bool { return s.provider != addrs.Provider{} }

// host returns the host of the registry.
func (s subject) host() addrs.Hostname {
	if s.isProvider() {
		return s.provider.Hostname
	}
	return s.module.Host
}

// service returns the identifier of the service that the registry must offer.
func (s subject) service() string {
	if s.isProvider() {
		return providersService
	}
	return modulesService
}

// notFound returns the meaning of the status 404.
func (s subject) notFound() error {
	if s.platform != (addrs.Platform{}) {
		return ErrUnsupportedPlatform
	}
	return ErrNotFound
}

// segments returns the path segments of an endpoint below the URL of the service. last are
// the segments after the address and the version.
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
