package getproviders

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/opentofu/opentofu/internal/addrs"
	"github.com/opentofu/opentofu/internal/httpclient"
	tofuversion "github.com/opentofu/opentofu/version"
	"github.com/opentofu/svchost"
	"github.com/opentofu/svchost/svcauth"

	cotteraddrs "github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	cotter "github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/versions"
)

// HTTPMirrorSource gets providers from a network mirror with Cotter. Credentials are found by
// OpenTofu.
type HTTPMirrorSource struct {
	baseURL        *url.URL
	creds          svcauth.CredentialsSource
	httpClient     *retryablehttp.Client
	locationConfig LocationConfig
}

var _ Source = (*HTTPMirrorSource)(nil)

// NewHTTPMirrorSource returns a source. It panics if the URL is not https. creds may be nil.
func NewHTTPMirrorSource(ctx context.Context, baseURL *url.URL, creds svcauth.CredentialsSource, requestTimeout time.Duration, config LocationConfig) *HTTPMirrorSource {
	return newHTTPMirrorSourceWithHTTPClient(baseURL, creds, httpclient.NewForRegistryRequests(ctx, 0, requestTimeout), config)
}

func newHTTPMirrorSourceWithHTTPClient(baseURL *url.URL, creds svcauth.CredentialsSource, client *retryablehttp.Client, config LocationConfig) *HTTPMirrorSource {
	if baseURL.Scheme != "https" {
		panic("the URL of a network mirror is not https")
	}
	return &HTTPMirrorSource{baseURL: baseURL, creds: creds, httpClient: client, locationConfig: config}
}

func (s *HTTPMirrorSource) mirror(provider addrs.Provider) *cotter.NetworkMirror {
	return &cotter.NetworkMirror{
		URL:            s.baseURL,
		Credentials:    mirrorCredentials{s.creds},
		TrustAllHashes: s.locationConfig.TrustAllHashes,
		TrustedHost:    cotteraddrs.Hostname(provider.Hostname),
		HTTPClient:     s.httpClient.HTTPClient,
		UserAgent:      httpclient.OpenTofuUserAgent(tofuversion.String()),
		Attempts:       max(s.httpClient.RetryMax, s.locationConfig.ProviderDownloadRetries) + 1,
	}
}

// mirrorCredentials finds credentials as OpenTofu does. The source may be nil.
type mirrorCredentials struct{ source svcauth.CredentialsSource }

func (c mirrorCredentials) ForHost(ctx context.Context, host cotteraddrs.Hostname) (disco.Credentials, error) {
	if c.source == nil {
		return nil, nil
	}
	found, err := c.source.ForHost(ctx, svchost.Hostname(host))
	if err != nil || found == nil {
		return nil, err
	}
	return found, nil
}

// AvailableVersions lists the versions of a provider, lowest first.
func (s *HTTPMirrorSource) AvailableVersions(ctx context.Context, provider addrs.Provider) (VersionList, Warnings, error) {
	listing, err := s.mirror(provider).Versions(ctx, cotterProvider(provider))
	if errors.Is(err, cotter.ErrNotFound) {
		return nil, nil, ErrProviderNotFound{Provider: provider}
	}
	if err != nil {
		return nil, nil, s.fail(provider, err)
	}
	var found VersionList
	for _, v := range listing.Numbers() {
		version, err := ParseVersion(v.String())
		if err != nil {
			return nil, nil, s.fail(provider, err)
		}
		found = append(found, version)
	}
	found.Sort()
	return found, listing.Warnings, nil
}

// PackageMeta finds the package of a version.
func (s *HTTPMirrorSource) PackageMeta(ctx context.Context, provider addrs.Provider, version Version, target Platform) (PackageMeta, error) {
	selected, err := versions.ParseProviderVersion(version.String())
	if err != nil {
		return PackageMeta{}, s.fail(provider, err)
	}
	pkg, err := s.mirror(provider).Package(ctx, cotterProvider(provider), selected, cotteraddrs.Platform(target))
	if errors.Is(err, cotter.ErrUnsupportedPlatform) {
		return PackageMeta{}, ErrPlatformNotSupported{Provider: provider, Version: version, Platform: target, MirrorURL: s.baseURL}
	}
	if err != nil {
		return PackageMeta{}, s.fail(provider, err)
	}
	at, err := url.Parse(pkg.Location())
	if err != nil {
		return PackageMeta{}, s.fail(provider, err)
	}
	meta := PackageMeta{
		Provider: provider, Version: version, TargetPlatform: target,
		Filename: path.Base(at.Path), Location: mirrorArchive{pkg},
	}
	found, err := pkg.Authenticate(ctx)
	if err != nil {
		return PackageMeta{}, s.fail(provider, err)
	}
	accepted := found.Announced
	if s.locationConfig.TrustAllHashes {
		accepted = found.Hashes
	}
	var hashes []Hash
	for _, hash := range accepted {
		hashes = append(hashes, Hash(hash))
	}
	if len(hashes) > 0 {
		meta.Authentication = NewPackageHashAuthentication(target, hashes, s.locationConfig.TrustAllHashes)
	}
	return meta, nil
}

// mirrorArchive is an archive that Cotter downloads. Its URL can have secrets, which String does not
// show.
type mirrorArchive struct{ pkg cotter.Package }

func (a mirrorArchive) String() string { return a.pkg.Location() }

func (a mirrorArchive) InstallProviderPackage(ctx context.Context, meta PackageMeta, targetDir string, allowedHashes []Hash) (*PackageAuthenticationResult, error) {
	file, err := os.CreateTemp("", "opentofu-provider-")
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}()
	if err := a.pkg.Download(ctx, file, nil); err != nil {
		return nil, err
	}
	local := PackageLocalArchive(file.Name())
	meta.Location = local
	return local.InstallProviderPackage(ctx, meta, targetDir, allowedHashes)
}

// fail returns OpenTofu's error for an error of Cotter, which names the provider already.
func (s *HTTPMirrorSource) fail(provider addrs.Provider, err error) error {
	var mirror *cotter.MirrorError
	if errors.As(err, &mirror) {
		err = mirror.Err
	}
	switch {
	case errors.Is(err, context.Canceled):
		return ErrRequestCanceled{}
	case mirror != nil && errors.Is(err, cotter.ErrMirrorRefused):
		if host, hostErr := hostOf(mirror.Location); hostErr == nil {
			return ErrUnauthorized{Hostname: host, HaveCredentials: true}
		}
		return fmt.Errorf("%s: %w", mirror.Location, err)
	}
	return ErrQueryFailed{Provider: provider, Wrapped: err, MirrorURL: s.baseURL}
}

func hostOf(at string) (svchost.Hostname, error) {
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	host, err := cotteraddrs.ParseHostname(u.Host)
	return svchost.Hostname(host), err
}

// ForDisplay names the source for users.
func (s *HTTPMirrorSource) ForDisplay(addrs.Provider) string {
	return "provider mirror at " + s.baseURL.String()
}
