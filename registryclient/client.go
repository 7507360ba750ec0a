package registryclient

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpapi"
	"github.com/cotterpin/cotter/internal/pause"
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

// Client asks module registries. It needs Services; the zero value of all else
// works. It is safe for concurrent use and must not be copied, nor its fields
// changed, once it is in use. What it has learned it remembers, so its lifetime
// should be that of one run.
type Client struct {
	Services Services
	// HTTPClient gives the transport, and by its Timeout the bound of one
	// request, which does not apply to Download. nil means
	// http.DefaultTransport; a Timeout of zero means 30 s. Its cookie jar and
	// redirect policy are not used.
	HTTPClient *http.Client
	// UserAgent is sent with each request. Empty means "cotter".
	UserAgent string
	// Retries is how often a failed request is repeated. Zero means 3, a
	// negative number not at all.
	Retries int
	// RetryWait bounds the wait before the first repetition, where the server
	// does not ask for another; later ones may be up to 16 times longer. Zero
	// means 500 ms.
	RetryWait time.Duration
	// MaxDownload is how many bytes a hosted package may have. Zero means
	// DefaultMaxDownload.
	MaxDownload int64

	listings  singleflight.Group[addrs.ModuleRegistryPackage, []versions.Candidate]
	locations singleflight.Group[release, Location]
	pauses    pause.Hosts
}

// release is one version of a package.
type release struct {
	pkg     addrs.ModuleRegistryPackage
	version versions.Version
}

// api is how registries are asked.
func (c *Client) api() *httpapi.Client {
	return &httpapi.Client{
		HTTPClient:   c.HTTPClient,
		UserAgent:    c.UserAgent,
		Retries:      c.Retries,
		RetryWait:    c.RetryWait,
		Pauses:       &c.pauses,
		MaxRedirects: maxRedirects,
	}
}
