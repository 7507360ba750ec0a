package getproviders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/opentofu/opentofu/internal/addrs"
	"github.com/opentofu/opentofu/internal/httpclient"
	"github.com/opentofu/svchost"
	"github.com/opentofu/svchost/disco"
)

// RegistrySource gets providers from the registries of their hosts with Cotter. Services and
// credentials are found by OpenTofu.
type RegistrySource struct {
	services       *disco.Disco
	httpClient     *retryablehttp.Client
	locationConfig LocationConfig
}

var _ Source = (*RegistrySource)(nil)

// NewRegistrySource returns a source. httpClient may be nil.
func NewRegistrySource(ctx context.Context, services *disco.Disco, httpClient *retryablehttp.Client, locationCfg LocationConfig) *RegistrySource {
	if httpClient == nil {
		httpClient = httpclient.NewForRegistryRequests(ctx, 1, 10*time.Second)
	}
	return &RegistrySource{services: services, httpClient: httpClient, locationConfig: locationCfg}
}

// AvailableVersions lists the versions of a provider, lowest first.
func (s *RegistrySource) AvailableVersions(ctx context.Context, provider addrs.Provider) (VersionList, Warnings, error) {
	client, err := s.registryClient(ctx, provider.Hostname)
	if err != nil {
		return nil, nil, err
	}
	offered, warnings, err := client.ProviderVersions(ctx, provider)
	if err != nil {
		return nil, nil, err
	}
	var found VersionList
	for text := range offered {
		version, err := ParseVersion(text)
		if err != nil {
			return nil, nil, client.fail(provider, err)
		}
		found = append(found, version)
	}
	found.Sort()
	return found, warnings, nil
}

// PackageMeta finds the package of a version.
func (s *RegistrySource) PackageMeta(ctx context.Context, provider addrs.Provider, version Version, target Platform) (PackageMeta, error) {
	client, err := s.registryClient(ctx, provider.Hostname)
	if err != nil {
		return PackageMeta{}, err
	}
	return client.PackageMeta(ctx, provider, version, target)
}

// registryClient returns the client for the registry of a host.
func (s *RegistrySource) registryClient(ctx context.Context, hostname svchost.Hostname) (*registryClient, error) {
	host, err := s.services.Discover(ctx, hostname)
	if err != nil {
		return nil, ErrHostUnreachable{Hostname: hostname, Wrapped: err}
	}
	at, err := host.ServiceURL("providers.v1")
	var missing *disco.ErrServiceNotProvided
	var other *disco.ErrVersionNotSupported
	switch {
	case errors.As(err, &missing):
		return nil, ErrHostNoProviders{Hostname: hostname}
	case errors.As(err, &other):
		return nil, ErrHostNoProviders{Hostname: hostname, HasOtherVersion: true}
	case err != nil:
		return nil, ErrHostUnreachable{Hostname: hostname, Wrapped: err}
	}
	credentials, err := s.services.CredentialsForHost(ctx, hostname)
	if err != nil {
		return nil, fmt.Errorf("credentials for %s: %w", hostname, err)
	}
	return newRegistryClient(at, credentials, s.httpClient, s.locationConfig), nil
}

// ForDisplay names the source for users.
func (s *RegistrySource) ForDisplay(provider addrs.Provider) string {
	return "registry " + provider.Hostname.ForDisplay()
}
