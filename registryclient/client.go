package registryclient

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/retryafter"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/versions"
)

// serviceID is the service of module registries in discovery.
const serviceID = "modules.v1"

// maxRedirects is half of what net/http allows. Registries that redirect their
// API at all do so once, for another domain or a missing slash.
const maxRedirects = 5

// Services finds the services of hosts and knows the credentials for them.
// *disco.Client is one.
type Services interface {
	// ServiceURL returns the base URL of a service, which ends in "/".
	ServiceURL(ctx context.Context, host addrs.Hostname, serviceID string) (*url.URL, error)
	// Authorize adds the credentials for host to the header of an https
	// request. Where it fails, the request is unchanged.
	Authorize(ctx context.Context, host addrs.Hostname, req *http.Request) error
}

// Client asks module registries. It needs Services; the zero value of all other
// fields works. It is safe for concurrent use; once it is in use, it must not be
// copied and its fields must not change. It remembers answers, so its lifetime
// should be that of one run.
type Client struct {
	Services Services
	// HTTPClient gives the transport, and by its Timeout the bound of one
	// attempt, which does not apply to Download. nil means
	// http.DefaultTransport; a Timeout of zero means 30 s. Its CheckRedirect and
	// Jar are not used.
	HTTPClient *http.Client
	// UserAgent is sent with each request. "" means "cotter".
	UserAgent string
	// Retries is how often a failed request is repeated. Zero means 3, a
	// negative number not at all.
	Retries int
	// RetryWait bounds the wait before the first retry, if the server does not
	// ask for another one; later ones may be up to 16 times longer. Zero means
	// 500 ms.
	RetryWait time.Duration
	// MaxDownload is how many bytes a hosted package may have. Zero means
	// DefaultMaxDownload.
	MaxDownload int64

	listings  singleflight.Group[addrs.ModuleRegistryPackage, []versions.Candidate]
	locations singleflight.Group[release, Location]
	pauses    retryafter.Hosts
}

// release is one version of a package.
type release struct {
	pkg     addrs.ModuleRegistryPackage
	version versions.Version
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
