package getproviders

import (
	"context"
	"net/http"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Registry answers for the registries of providers. *registryclient.Client is one.
// Implementations must be safe for concurrent use.
type Registry interface {
	// ProviderVersions lists the versions of a provider. A provider that the
	// registry does not have is an error over registryclient.ErrNotFound.
	ProviderVersions(ctx context.Context, provider addrs.Provider) (registryclient.ProviderListing, error)
	// ProviderPackage finds the package of a version for a platform; what the
	// registry does not have is an error over registryclient.ErrNotFound.
	ProviderPackage(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (registryclient.ProviderPackage, error)
}

// Direct is the Source that asks the registry of each provider's host. Its fields must
// not change once it is in use. It is safe for concurrent use.
type Direct struct {
	// Registry answers for registries; it must be set.
	Registry Registry
	// TrustedHost is the host whose registry is believed without a signature: a
	// provider for which it offers no keys is accepted, and what it reports about
	// packages ([registryclient.ProviderPackage].Packages) is recorded. OpenTofu does
	// this for its default host. "" means that no host is.
	TrustedHost addrs.Hostname
	// HTTPClient gives the transport for archives, sums and signatures. nil means
	// http.DefaultTransport.
	HTTPClient *http.Client
	// UserAgent is sent with each request. "" means "cotter".
	UserAgent string
	// Retries is how often a failed request is repeated. 0 means 3, less means never.
	// A transfer that is resumed does not count as long as it advances.
	Retries int
	// Backoff returns the wait before the retry with this number, from 1 on. nil
	// means random waits that grow, and those for which servers ask.
	Backoff func(retry int) time.Duration
	// StallTimeout is how long a server may take to answer, and the window over which
	// its answer must keep to a minimum rate. 0 means 30 s.
	StallTimeout time.Duration
	// MaxArchive bounds an archive in bytes. 0 means 1 GiB.
	MaxArchive int64
}

var _ Source = (*Direct)(nil)

// Versions implements [Source].
func (d *Direct) Versions(ctx context.Context, provider addrs.Provider) (Listing, error) {
	panic("unfinished")
}

// Package implements [Source]. A version that needs a plugin protocol that no stock tool
// speaks is a *[ProtocolError].
func (d *Direct) Package(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (Package, error) {
	panic("unfinished")
}
