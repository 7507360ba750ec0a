package getproviders

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Registry queries the registries of providers. *registryclient.Client implements it.
// Implementations must be safe for concurrent use.
type Registry interface {
	// ProviderVersions lists the versions of a provider. If the registry does not have the
	// provider, the error wraps registryclient.ErrNotFound.
	ProviderVersions(ctx context.Context, provider addrs.Provider) (registryclient.ProviderListing, error)
	// ProviderRenamed returns the address that replaces a provider which the registry does not
	// have, and whether the registry knows such an address.
	ProviderRenamed(ctx context.Context, provider addrs.Provider) (addrs.Provider, bool, error)
	// ProviderPackage finds the package of a version for a platform. If the registry does not have
	// it, the error wraps registryclient.ErrNotFound or registryclient.ErrUnsupportedPlatform.
	ProviderPackage(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (registryclient.ProviderPackage, error)
}

// Direct is the Source that queries the registry of each provider's host. Its fields must not
// change while it is in use. It is safe for concurrent use.
type Direct struct {
	// Registry queries the registries. nil means a *registryclient.Client without credentials
	// that has the HTTPClient, the UserAgent and the Attempts of the Direct.
	Registry Registry
	// TrustedHost is the host whose registry is trusted without a signature; see the package
	// documentation. "" means that there is no such host.
	TrustedHost addrs.Hostname
	// AllowWeakSignatures accepts signatures with SHA-1 and signatures by DSA keys or RSA keys
	// below 2048 bits, as stock tools do; Authentication.Weak is then set. RefuseExpired refuses
	// keys and signatures that have expired, instead of returning a warning.
	AllowWeakSignatures, RefuseExpired bool
	// HTTPClient provides the transport for archives, sums and signatures. Its Timeout limits each
	// request for sums or signatures; 0 means 30 s. nil means http.DefaultTransport.
	HTTPClient *http.Client
	// UserAgent is sent with each request. "" means "cotter".
	UserAgent string
	// Attempts is how often a request is sent at most. 0 means 4; 1 means that a failed request
	// is never repeated. The attempts for an archive are counted from zero again whenever the
	// transfer has advanced.
	Attempts int
	// Backoff returns the wait before a retry. The number of the first retry is 1. nil means
	// random waits that grow, or the waits that servers ask for.
	Backoff func(retry int) time.Duration
	// StallTimeout is the maximum time until a server answers, and the window in which an archive
	// must keep a minimum rate. 0 means 30 s.
	StallTimeout time.Duration
	// MaxArchive is the maximum size of an archive in bytes. 0 means 1 GiB.
	MaxArchive int64

	pauses httpx.Pauses
	// documents are the documents of sums and the signatures by URL. All platforms of a version
	// share them.
	documents singleflight.Group[httpx.Shared[string], []byte]

	once     sync.Once
	fallback Registry // used if Registry is nil
}

func (d *Direct) registry() Registry {
	if d.Registry != nil {
		return d.Registry
	}
	d.once.Do(func() {
		services := &disco.Client{HTTPClient: d.HTTPClient, UserAgent: d.UserAgent, Attempts: d.Attempts}
		d.fallback = &registryclient.Client{Services: services, HTTPClient: d.HTTPClient, UserAgent: d.UserAgent, Attempts: d.Attempts}
	})
	return d.fallback
}

var _ Source = (*Direct)(nil)

const (
	// defaultMaxArchive is the default of Direct.MaxArchive. The largest published archives have
	// 150 MB.
	defaultMaxArchive = 1 << 30
	// defaultStallTimeout is the default of Direct.StallTimeout.
	defaultStallTimeout = 30 * time.Second
	// maxRedirects is the number of redirects that stock tools follow.
	maxRedirects = 10
)

// Versions implements [Source]. For an unknown provider in the namespace "hashicorp" on a stock
// tool's own host, the error can be a *[RenamedError]. A provider without a source has this
// address, but most such providers are elsewhere.
func (d *Direct) Versions(ctx context.Context, provider addrs.Provider) (Listing, error) {
	if err := checkHost(ctx, provider); err != nil {
		return Listing{}, err
	}
	found, err := d.registry().ProviderVersions(ctx, provider)
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

// checkHost returns an error if a package has named a registry to which it must not point. It judges every
// call, although callers share the answers of registries.
func checkHost(ctx context.Context, provider addrs.Provider) error {
	return httpx.CheckReach(ctx, &url.URL{Scheme: "https", Host: string(provider.Hostname)})
}

// withNewName asks the registry for the new address of an unknown provider. As in stock tools,
// the address is only a suggestion, so errors are ignored.
func (d *Direct) withNewName(ctx context.Context, provider addrs.Provider, unknown error) error {
	isDefault := provider.Hostname == addrs.DefaultRegistryHost || provider.Hostname == addrs.TerraformRegistryHost
	if !isDefault || provider.Namespace != "hashicorp" {
		return unknown
	}
	if now, ok, err := d.registry().ProviderRenamed(ctx, provider); err == nil && ok {
		return &RenamedError{Provider: provider, Now: now, Err: unknown}
	}
	return unknown
}

// Package implements [Source].
func (d *Direct) Package(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (Package, error) {
	if err := checkHost(ctx, provider); err != nil {
		return nil, err
	}
	found, err := d.registry().ProviderPackage(ctx, provider, version, platform)
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

// Evidence implements [Source]. A registry's signature, or the registry itself if it is trusted
// without one, confirms the packages.
func (d *Direct) Evidence(provider addrs.Provider) []evidence.Evidence {
	if d.TrustedHost != "" && provider.Hostname == d.TrustedHost {
		return []evidence.Evidence{{Kind: evidence.Signature}, {Kind: evidence.Origin}}
	}
	return []evidence.Evidence{{Kind: evidence.Signature}}
}

// Local implements [Source].
func (d *Direct) Local() Source { return Multi(nil) }

type directPackage struct {
	*Direct
	found   registryclient.ProviderPackage
	url     *url.URL
	archive hashing.Hash
}

func (p *directPackage) Location() string      { return addrs.Redact(p.found.URL) }
func (p *directPackage) Archive() hashing.Hash { return p.archive }
func (p *directPackage) Dir() string           { return "" }

func (p *directPackage) ReportsH1() bool {
	return p.isTrusted() && slices.ContainsFunc(p.found.Packages[p.found.Platform].Hashes, func(text string) bool {
		return hashing.Hash(text).Scheme() == "h1"
	})
}

func (p *directPackage) isTrusted() bool {
	return p.TrustedHost != "" && p.found.Provider.Hostname == p.TrustedHost
}

// client returns the client for URLs that a registry points to. It has no credentials.
func (d *Direct) client() *httpx.Client {
	return &httpx.Client{
		HTTP:         d.HTTPClient,
		UserAgent:    d.UserAgent,
		MaxRedirects: maxRedirects,
		Retry:        httpx.Retry{Attempts: d.Attempts, Backoff: d.Backoff, Pauses: &d.pauses},
		Floor:        httpx.Floor{Window: cmp.Or(d.StallTimeout, defaultStallTimeout)},
	}
}

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

// limited returns the context for requests to a URL that the registry has named. Its client has judged
// the text of the URL.
func (p *directPackage) limited(ctx context.Context, at string) context.Context {
	to, err := url.Parse(at)
	if err != nil {
		return ctx
	}
	return httpx.PointedToName(ctx, &url.URL{Scheme: "https", Host: string(p.found.Provider.Hostname)}, to)
}

func (p *directPackage) Download(ctx context.Context, file *os.File, progress func(done, total int64)) error {
	req, err := newRequest(p.limited(ctx, p.found.URL), p.found.URL)
	if err != nil {
		return atLocation(p.Location(), err)
	}
	sum := sha256.New()
	d := &httpx.Download{File: file, Limit: cmp.Or(p.MaxArchive, defaultMaxArchive), Hash: sum, Progress: progress}
	d.Verify = func() error {
		if size := p.found.Packages[p.found.Platform].Size; size > 0 && d.Size() != size {
			return fmt.Errorf("the archive has %d bytes, and %d were announced", d.Size(), size)
		}
		return checkSum(p.Location(), sum, p.archive)
	}
	return atLocation(p.Location(), d.Resume(p.client(), req))
}

// atLocation adds the location of a package to an error of its download. A *[MismatchError] has it.
func atLocation(location string, err error) error {
	if err == nil {
		return nil
	}
	if mismatch, ok := errors.AsType[*MismatchError](err); ok {
		return mismatch
	}
	return fmt.Errorf("%s: %w", location, err)
}
