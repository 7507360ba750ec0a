package getproviders

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/minrate"
	"github.com/cotterpin/cotter/internal/retryafter"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Registry answers for the registries of providers. *registryclient.Client is one.
// Implementations must be safe for concurrent use.
type Registry interface {
	// ProviderVersions lists the versions of a provider. A provider that the
	// registry does not have is an error over registryclient.ErrNotFound.
	ProviderVersions(ctx context.Context, provider addrs.Provider) (registryclient.ProviderListing, error)
	// ProviderRenamed returns the address that has taken the place of a provider which
	// the registry does not have, and whether it knows of one.
	ProviderRenamed(ctx context.Context, provider addrs.Provider) (addrs.Provider, bool, error)
	// ProviderPackage finds the package of a version for a platform. What the
	// registry does not have is an error over registryclient.ErrNotFound or
	// registryclient.ErrUnsupportedPlatform.
	ProviderPackage(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (registryclient.ProviderPackage, error)
}

// Direct is the Source that asks the registry of each provider's host. Its fields must
// not change once it is in use. It is safe for concurrent use.
type Direct struct {
	// Registry answers for registries; it must be set.
	Registry Registry
	// TrustedHost is the host whose registry is believed without a signature; see the
	// package comment. "" means that no host is.
	TrustedHost addrs.Hostname
	// AllowWeakSignatures accepts signatures with SHA-1, RSA keys below 2048 bits and
	// DSA keys, as stock tools do; Authentication.Weak says so then. RefuseExpired refuses keys and signatures that have
	// expired, which are a warning otherwise.
	AllowWeakSignatures, RefuseExpired bool
	// HTTPClient gives the transport for archives, sums and signatures, and by its
	// Timeout the bound of a request for the latter two; 0 means 30 s. nil means
	// http.DefaultTransport.
	HTTPClient *http.Client
	// UserAgent is sent with each request. "" means "cotter".
	UserAgent string
	// Retries is how often a failed request is repeated. 0 means 3, less means never.
	// The retries of an archive begin anew whenever the transfer has advanced.
	Retries int
	// Backoff returns the wait before the retry with this number, from 1 on. nil
	// means random waits that grow, and those for which servers ask.
	Backoff func(retry int) time.Duration
	// StallTimeout is how long a server may take to answer, and the window over which
	// an archive must keep to a minimum rate. 0 means 30 s.
	StallTimeout time.Duration
	// MaxArchive bounds an archive in bytes. 0 means 1 GiB.
	MaxArchive int64

	pauses retryafter.Hosts
	// documents are those of sums and signatures, which all platforms of a version
	// share, by their URLs.
	documents singleflight.Group[string, []byte]
}

var _ Source = (*Direct)(nil)

const (
	// defaultMaxArchive is the default of Direct.MaxArchive. The largest published
	// archives have 150 MB.
	defaultMaxArchive = 1 << 30
	// defaultStallTimeout is the default of Direct.StallTimeout.
	defaultStallTimeout = 30 * time.Second
	// maxRedirects is what stock tools follow.
	maxRedirects = 10
)

// Versions implements [Source]. The error can be a *[RenamedError] if an unknown
// provider has the namespace "hashicorp" on a stock tool's own host: that is what a name
// without a source means, and most of them are elsewhere.
func (d *Direct) Versions(ctx context.Context, provider addrs.Provider) (Listing, error) {
	found, err := d.Registry.ProviderVersions(ctx, provider)
	if errors.Is(err, registryclient.ErrNotFound) {
		err = d.withNewName(ctx, provider, err)
	}
	if err != nil {
		return Listing{}, registryError(err)
	}
	listing := Listing{Warnings: found.Warnings}
	for _, v := range found.Versions {
		listing.Versions = append(listing.Versions, Version{Version: v.Version, Platforms: v.Platforms, Incompatible: !v.Compatible()})
	}
	return listing, nil
}

// withNewName asks the registry what has become of an unknown provider. As with stock
// tools, it is no more than a suggestion: one that cannot be had is left out.
func (d *Direct) withNewName(ctx context.Context, provider addrs.Provider, unknown error) error {
	isDefault := provider.Hostname == addrs.DefaultRegistryHost || provider.Hostname == addrs.TerraformRegistryHost
	if !isDefault || provider.Namespace != "hashicorp" {
		return unknown
	}
	if now, ok, err := d.Registry.ProviderRenamed(ctx, provider); err == nil && ok {
		return &RenamedError{Provider: provider, Now: now, Err: unknown}
	}
	return unknown
}

// Package implements [Source].
func (d *Direct) Package(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (Package, error) {
	found, err := d.Registry.ProviderPackage(ctx, provider, version, platform)
	if err != nil {
		return nil, registryError(err)
	}
	u, err := url.Parse(found.URL)
	if err != nil {
		return nil, err
	}
	archive, err := hashing.ParseHash("zh:" + found.Sum)
	if err != nil {
		return nil, err
	}
	return &directPackage{Direct: d, found: found, url: u, archive: archive}, nil
}

// directPackage is a package of a registry.
type directPackage struct {
	*Direct
	found   registryclient.ProviderPackage
	url     *url.URL
	archive hashing.Hash
}

func (p *directPackage) Location() string      { return addrs.Redact(p.found.URL) }
func (p *directPackage) Archive() hashing.Hash { return p.archive }
func (p *directPackage) Dir() string           { return "" }

// ReportsH1 implements [Package].
func (p *directPackage) ReportsH1() bool {
	return p.isTrusted() && slices.ContainsFunc(p.found.Packages[p.found.Platform].Hashes, func(text string) bool {
		return hashing.Hash(text).Scheme() == "h1"
	})
}

// isTrusted reports whether the registry is believed without a signature.
func (p *directPackage) isTrusted() bool {
	return p.TrustedHost != "" && p.found.Provider.Hostname == p.TrustedHost
}

// client returns the client for what a registry points to. It has no credentials.
func (d *Direct) client() *httpx.Client {
	return &httpx.Client{
		HTTP:         d.HTTPClient,
		UserAgent:    d.UserAgent,
		MaxRedirects: maxRedirects,
		Retry:        httpx.Retry{Max: d.Retries, Backoff: d.Backoff, Pauses: &d.pauses},
		Floor:        minrate.Floor{Window: cmp.Or(d.StallTimeout, defaultStallTimeout)},
	}
}

// sourceError gives an error of a registry a kind of this package.
type sourceError struct{ kind, err error }

func (e *sourceError) Error() string   { return e.err.Error() }
func (e *sourceError) Unwrap() []error { return []error{e.kind, e.err} }

func registryError(err error) error {
	switch {
	case errors.Is(err, registryclient.ErrNotFound):
		return &sourceError{ErrNotFound, err}
	case errors.Is(err, registryclient.ErrUnsupportedPlatform):
		return &sourceError{ErrUnsupportedPlatform, err}
	}
	return err
}
