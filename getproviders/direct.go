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
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/providerzip"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Registry queries the registries of providers, as *registryclient.Client does. It must be safe for
// concurrent use.
type Registry interface {
	// ProviderVersions lists versions. Without the provider, the error wraps registryclient.ErrNotFound.
	ProviderVersions(ctx context.Context, provider addrs.Provider) (registryclient.ProviderListing, error)
	// ProviderRenamed returns the address that replaces an unknown provider, and whether there is one.
	ProviderRenamed(ctx context.Context, provider addrs.Provider) (addrs.Provider, bool, error)
	// ProviderPackage finds a package. If there is none, the error wraps registryclient.ErrNotFound or
	// registryclient.ErrUnsupportedPlatform.
	ProviderPackage(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (registryclient.ProviderPackage, error)
}

// Direct is the Source that queries the registry of each provider's host. It is safe for concurrent use;
// its fields must not change while it is in use.
type Direct struct {
	// Registry may be nil, for a *registryclient.Client without credentials that has HTTPClient, UserAgent
	// and Attempts of the Direct.
	Registry Registry
	// TrustedHost is the host whose registry is trusted without a signature, if any; see the package
	// comment.
	TrustedHost addrs.Hostname
	// AllowWeakSignatures accepts SHA-1, DSA keys and RSA keys below 2048 bits, as stock tools do, and sets
	// [Authentication.Weak]. RefuseExpired refuses expired keys and signatures instead of returning a
	// warning.
	AllowWeakSignatures, RefuseExpired bool
	// HTTPClient provides the transport for archives, sums and signatures, and its Timeout, by default 30
	// s, limits each request for the latter two. nil means http.DefaultTransport.
	HTTPClient *http.Client
	// HTTPCredentials finds the user name and password for the server of an archive, which are sent by https, and not
	// after a redirect. It returns nil if there are none. nil sends none, as OpenTofu; terraform asks the user's netrc
	// file.
	HTTPCredentials func(context.Context, *url.URL) (*url.Userinfo, error)
	// UserAgent is sent with each request. "" means "cotter".
	UserAgent string
	// Attempts is how often a request is sent at most. 0 means 4; 1 means no retry. For an archive they are
	// counted anew whenever the transfer has advanced.
	Attempts int
	// Backoff returns the wait before a retry, counted from 1. nil means random waits that grow, or those that
	// servers ask for.
	Backoff func(retry int) time.Duration
	// StallTimeout is the time until a server must answer, and the window of an archive's minimum rate. 0
	// means 30 s.
	StallTimeout time.Duration

	pauses httpx.Pauses
	// documents are sums and signatures by URL. All platforms of a version share them.
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
	defaultStallTimeout = 30 * time.Second
	// maxRedirects is that of stock tools.
	maxRedirects = 10
)

// Versions implements [Source]. For an unknown "hashicorp" provider on a stock tool's own host, the error
// can be a *[RenamedError]: a provider without a source has this address, but is often elsewhere.
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

// checkHost refuses a registry to which a package must not point. It judges every call, although callers
// share answers.
func checkHost(ctx context.Context, provider addrs.Provider) error {
	return httpx.CheckReach(ctx, &url.URL{Scheme: "https", Host: string(provider.Hostname)})
}

// withNewName asks for the new address of an unknown provider. It is a suggestion, as in stock tools, so
// errors are ignored.
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

// Evidence implements [Source]: a registry's signature, or a registry that is trusted without one.
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

// client has no credentials. It is for URLs that a registry points to.
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

// limited returns the context for a URL that the registry has named, and whose text its client has judged.
func (p *directPackage) limited(ctx context.Context, at string) context.Context {
	to, err := url.Parse(at)
	if err != nil {
		return ctx
	}
	return httpx.PointedToName(ctx, &url.URL{Scheme: "https", Host: string(p.found.Provider.Hostname)}, to)
}

func (p *directPackage) Download(ctx context.Context, file *os.File, progress func(done, total int64)) error {
	at, err := url.Parse(p.found.URL)
	if err == nil {
		at, err = withNetrc(ctx, at, p.HTTPCredentials)
	}
	if err != nil {
		return atLocation(p.Location(), err)
	}
	req, err := newRequest(p.limited(ctx, p.found.URL), at.String())
	if err != nil {
		return atLocation(p.Location(), err)
	}
	sum := sha256.New()
	d := &httpx.Download{File: file, Limit: providerzip.MaxArchive, Hash: sum, Progress: progress, Disk: packagelimits.DiskOf(ctx)}
	d.Verify = func() error {
		if size := p.found.Packages[p.found.Platform].Size; size > 0 && d.Size() != size {
			return fmt.Errorf("the archive has %d bytes, and %d were announced", d.Size(), size)
		}
		return checkSum(p.Location(), sum, p.archive)
	}
	return atLocation(p.Location(), refused(netrcLogin(req.URL, p.HTTPCredentials), d.Resume(p.client(), req)))
}

// atLocation adds the location to an error of a download, unless it is a *[MismatchError], which has it.
func atLocation(location string, err error) error {
	if err == nil {
		return nil
	}
	if mismatch, ok := errors.AsType[*MismatchError](err); ok {
		return mismatch
	}
	return fmt.Errorf("%s: %w", location, err)
}
