package registryclient

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/versions"
)

// maxRedirects is half of the limit of net/http. Registries rarely redirect their API more
// than once, for another domain or a missing slash.
const maxRedirects = 5

// Services finds the services of hosts, and authorizes requests to them.
// *disco.Client implements it.
type Services interface {
	// ServiceURL returns the base URL of a service, which ends in "/".
	ServiceURL(ctx context.Context, host addrs.Hostname, serviceID string) (*url.URL, error)
	// Authorize adds the credentials for host to the header of an https
	// request. If it returns an error, the request is unchanged.
	Authorize(ctx context.Context, host addrs.Hostname, req *http.Request) error
}

// Client sends requests to registries of modules and providers. Services is required; all
// other fields are optional. A Client is safe for concurrent use. Once it is in use, it
// must not be copied and its fields must not change. It caches answers, so its lifetime
// should be one run.
type Client struct {
	Services Services
	// HTTPClient provides the transport, and its Timeout limits each attempt,
	// except in Download. nil means http.DefaultTransport; a Timeout of zero
	// means 30 s. Its CheckRedirect and Jar are ignored.
	HTTPClient *http.Client
	// UserAgent is sent with each request. "" means "cotter".
	UserAgent string
	// Retries is the number of retries of a failed request. Zero means 3, a negative number
	// means none.
	Retries int
	// RetryWait is the maximum wait before the first retry, unless the server requests a
	// different wait. Later waits are up to 16 times longer. Zero means 500 ms.
	RetryWait time.Duration
	// MaxDownload is the maximum size of hosted packages in bytes. Zero means
	// DefaultMaxDownload.
	MaxDownload int64

	listings  singleflight.Group[httpx.Shared[addrs.ModuleRegistryPackage], []versions.Candidate]
	locations singleflight.Group[httpx.Shared[subject], Location]
	// providers and packages cache the answers about providers.
	providers singleflight.Group[httpx.Shared[addrs.Provider], ProviderListing]
	packages  singleflight.Group[httpx.Shared[subject], ProviderPackage]
	pauses    httpx.Pauses
}

// httpClient returns the client for requests to registries.
func (c *Client) httpClient() *httpx.Client {
	return &httpx.Client{
		HTTP:           c.HTTPClient,
		UserAgent:      c.UserAgent,
		MaxRedirects:   maxRedirects,
		Refuse:         httpx.InsecureRedirect,
		AttemptTimeout: httpx.TimeoutOf(c.HTTPClient),
		Retry:          httpx.Retry{Max: c.Retries, FirstWait: c.RetryWait, Pauses: &c.pauses},
	}
}
