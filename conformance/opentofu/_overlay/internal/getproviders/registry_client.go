package getproviders

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/opentofu/opentofu/internal/addrs"
	"github.com/opentofu/opentofu/internal/httpclient"
	tofuversion "github.com/opentofu/opentofu/version"
	"github.com/opentofu/svchost"
	"github.com/opentofu/svchost/svcauth"

	cotteraddrs "github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

const (
	terraformVersionHeader = "X-Terraform-Version"
	// maxSums is the maximum size of a document of sums, and of its signature.
	maxSums = 1 << 20
)

// SupportedPluginProtocols are the plugin protocols that OpenTofu supports, which Cotter knows too.
var SupportedPluginProtocols = MustParseVersionConstraints(">= 5, <7")

// registryClient sends requests to one registry with Cotter.
type registryClient struct {
	client         *registryclient.Client
	baseURL        *url.URL
	creds          svcauth.HostCredentials
	httpClient     *retryablehttp.Client // for the documents of sums
	locationConfig LocationConfig
}

func newRegistryClient(base *url.URL, creds svcauth.HostCredentials, httpClient *retryablehttp.Client, config LocationConfig) *registryClient {
	return &registryClient{
		client: &registryclient.Client{
			Services:   registryService{base, creds},
			HTTPClient: withVersion(httpClient.HTTPClient),
			UserAgent:  httpclient.OpenTofuUserAgent(tofuversion.String()),
			Attempts:   httpClient.RetryMax + 1,
			RetryWait:  httpClient.RetryWaitMin,
		},
		baseURL: base, creds: creds, httpClient: httpClient, locationConfig: config,
	}
}

// registryService is a service that has been found.
type registryService struct {
	base  *url.URL
	creds svcauth.HostCredentials
}

func (s registryService) ServiceURL(context.Context, cotteraddrs.Hostname, string) (*url.URL, error) {
	at := *s.base
	if !strings.HasSuffix(at.Path, "/") {
		at.Path += "/"
	}
	return &at, nil
}

func (s registryService) Authorize(_ context.Context, _ cotteraddrs.Hostname, req *http.Request) error {
	if s.creds != nil {
		s.creds.PrepareRequest(req)
	}
	return nil
}

// withVersion returns a client that sends OpenTofu's version with each request.
func withVersion(client *http.Client) *http.Client {
	changed := *client
	changed.Transport = versionSender{client.Transport}
	return &changed
}

type versionSender struct{ transport http.RoundTripper }

func (s versionSender) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set(terraformVersionHeader, tofuversion.String())
	if s.transport == nil {
		return http.DefaultTransport.RoundTrip(req)
	}
	return s.transport.RoundTrip(req)
}

func (registryService) Refused(context.Context, cotteraddrs.Hostname, *http.Request) bool {
	return false
}

// ProviderVersions returns the protocols of each version of a provider, and warnings.
func (c *registryClient) ProviderVersions(ctx context.Context, provider addrs.Provider) (map[string][]string, []string, error) {
	listing, err := c.client.ProviderVersions(ctx, cotterProvider(provider))
	if err != nil {
		return nil, nil, c.fail(provider, err)
	}
	var found map[string][]string
	for _, v := range listing.Versions {
		if found == nil {
			found = make(map[string][]string)
		}
		found[v.Version.String()] = v.Protocols
	}
	return found, listing.Warnings, nil
}

// PackageMeta finds the package of a version, and gets the documents that prove it.
func (c *registryClient) PackageMeta(ctx context.Context, provider addrs.Provider, version Version, target Platform) (PackageMeta, error) {
	selected, err := versions.ParseProviderVersion(version.String())
	if err != nil {
		return PackageMeta{}, c.fail(provider, err)
	}
	found, err := c.client.ProviderPackage(ctx, cotterProvider(provider), selected, cotteraddrs.Platform(target))
	var protocol *registryclient.ProtocolError
	switch {
	case errors.As(err, &protocol):
		closest, err := c.findClosestProtocolCompatibleVersion(ctx, provider, version)
		if err != nil {
			return PackageMeta{}, err
		}
		return PackageMeta{}, ErrProtocolNotSupported{Provider: provider, Version: version, Suggestion: closest}
	case errors.Is(err, registryclient.ErrUnsupportedPlatform):
		return PackageMeta{}, ErrPlatformNotSupported{Provider: provider, Version: version, Platform: target}
	case err != nil:
		return PackageMeta{}, c.fail(provider, err)
	}
	meta := PackageMeta{
		Provider: provider, Version: version, TargetPlatform: target, Filename: found.Filename,
		Location: PackageHTTPURL{URL: found.URL, ClientBuilder: func(ctx context.Context) *retryablehttp.Client {
			return packageHTTPUrlClientWithRetry(ctx, c.locationConfig.ProviderDownloadRetries)
		}},
	}
	for _, text := range found.Protocols {
		version, err := ParseVersion(text)
		if err != nil {
			return PackageMeta{}, c.fail(provider, err)
		}
		meta.ProtocolVersions = append(meta.ProtocolVersions, version)
	}
	meta.ProtocolVersions.Sort()
	meta.Authentication, err = c.authentication(ctx, meta, found)
	if err != nil {
		return PackageMeta{}, c.fail(provider, err)
	}
	return meta, nil
}

// authentication returns what a downloaded archive must pass.
func (c *registryClient) authentication(ctx context.Context, meta PackageMeta, found registryclient.ProviderPackage) (PackageAuthentication, error) {
	document, err := c.document(ctx, found.SumsURL)
	if err != nil {
		return nil, err
	}
	signature, err := c.document(ctx, found.SignatureURL)
	if err != nil {
		return nil, err
	}
	var sum [sha256.Size]byte
	if _, err := hex.Decode(sum[:], []byte(found.Sum)); err != nil {
		return nil, err
	}
	reported := make(map[Platform]RegistryPlatformData)
	for platform, one := range found.Packages {
		data := RegistryPlatformData{PackageSize: one.Size}
		for _, hash := range one.Hashes {
			data.Hashes = append(data.Hashes, Hash(hash))
		}
		reported[Platform(platform)] = data
	}
	keys := make([]SigningKey, 0, len(found.Keys))
	for _, key := range found.Keys {
		keys = append(keys, SigningKey{ASCIIArmor: key.Armor})
	}
	return PackageAuthenticationAll(
		NewRegistryPackageAuthentication(meta, found.Sum, reported),
		NewMatchingChecksumAuthentication(document, found.Filename, sum),
		NewArchiveChecksumAuthentication(meta.TargetPlatform, sum),
		NewSignatureAuthentication(meta, document, signature, keys, meta.Provider),
	), nil
}

// findClosestProtocolCompatibleVersion returns the highest version whose protocols OpenTofu
// supports, or the zero version.
func (c *registryClient) findClosestProtocolCompatibleVersion(ctx context.Context, provider addrs.Provider, _ Version) (Version, error) {
	listing, err := c.client.ProviderVersions(ctx, cotterProvider(provider))
	if err != nil {
		return UnspecifiedVersion, c.fail(provider, err)
	}
	var best versions.Version
	for _, v := range listing.Versions {
		if len(v.Protocols) > 0 && v.Compatible() && (best.IsZero() || v.Version.Compare(best) > 0) {
			best = v.Version
		}
	}
	if best.IsZero() {
		return UnspecifiedVersion, nil
	}
	return ParseVersion(best.String())
}

// document gets a document of sums or a signature. No credentials are sent.
func (c *registryClient) document(ctx context.Context, at string) ([]byte, error) {
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	answer, err := c.httpClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", HostFromRequest(answer.Request), answer.Status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxSums+1))
	if err == nil && len(text) > maxSums {
		err = fmt.Errorf("the document from %s has more than %d bytes", HostFromRequest(answer.Request), maxSums)
	}
	return text, err
}

// fail returns OpenTofu's error for an error of Cotter, which names the provider already.
func (c *registryClient) fail(provider addrs.Provider, err error) error {
	var request *registryclient.RequestError
	if errors.As(err, &request) {
		err = request.Err
	}
	switch {
	case errors.Is(err, context.Canceled):
		return ErrRequestCanceled{}
	case errors.Is(err, registryclient.ErrNotFound):
		return ErrRegistryProviderNotKnown{Provider: provider}
	case request != nil && (request.StatusCode == http.StatusUnauthorized || request.StatusCode == http.StatusForbidden):
		return ErrUnauthorized{Hostname: provider.Hostname, HaveCredentials: request.CredentialsSent}
	}
	return ErrQueryFailed{Provider: provider, Wrapped: err}
}

// The search for the new names of legacy providers is OpenTofu's, and uses these methods.
func (c *registryClient) addHeadersToRequest(req *http.Request) {
	_ = registryService{c.baseURL, c.creds}.Authorize(req.Context(), "", req)
	req.Header.Set(terraformVersionHeader, tofuversion.String())
}

func (c *registryClient) errQueryFailed(provider addrs.Provider, err error) error {
	return c.fail(provider, err)
}

func (c *registryClient) errUnauthorized(hostname svchost.Hostname) error {
	return ErrUnauthorized{Hostname: hostname, HaveCredentials: c.creds != nil}
}

func cotterProvider(provider addrs.Provider) cotteraddrs.Provider {
	return cotteraddrs.Provider{Hostname: cotteraddrs.Hostname(provider.Hostname), Namespace: provider.Namespace, Type: provider.Type}
}

// HostFromRequest returns the host to which a request is sent.
func HostFromRequest(req *http.Request) string {
	switch {
	case req.Host != "":
		return req.Host
	case req.URL != nil:
		return req.URL.Host
	}
	return ""
}
