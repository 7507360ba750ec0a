package disco

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	svcdisco "github.com/opentofu/svchost/disco"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/singleflight"
)

const (
	// maxDocument is for a map with a handful of entries; the size is that of
	// the stock tools.
	maxDocument = 1 << 20
	// maxRedirects leaves room for a move to another domain and back to a
	// canonical name.
	maxRedirects = 3
)

// Client looks up services. The zero value asks without credentials and is
// ready for use. It is safe for concurrent use and must not be copied, nor its
// fields changed, once it is in use.
type Client struct {
	// HTTPClient gives the transport, and by its Timeout the bound of one
	// attempt. nil means http.DefaultTransport; a Timeout of zero means 30 s.
	// Its CheckRedirect and Jar are not used.
	HTTPClient *http.Client
	// Credentials has the credentials for hosts. nil means that there are none.
	// It is asked once for each host unless it fails.
	Credentials CredentialsSource
	// ForcedServices are services by host and service identifier that take the
	// place of discovery, as the "host" blocks of a CLI configuration do. A
	// value other than a string counts as missing.
	ForcedServices map[addrs.Hostname]map[string]any
	// UserAgent is sent with each request. "" means "cotter".
	UserAgent string
	// Retries is how often a failed request is repeated. Zero means 3, a
	// negative number not at all.
	Retries int
	// RetryWait bounds the wait before the first retry; later ones may be up to
	// 16 times longer. Zero means 500 ms.
	RetryWait time.Duration

	hosts       singleflight.Group[addrs.Hostname, *svcdisco.Host]
	credentials singleflight.Group[addrs.Hostname, Credentials]
}

// ServiceURL returns the base URL of a service at a host, whose path ends in
// "/". The identifier is a name and a major version, such as "modules.v1". An
// error is a *[DiscoveryError] over one of the sentinels of this package or the
// context's error.
func (c *Client) ServiceURL(ctx context.Context, host addrs.Hostname, serviceID string) (*url.URL, error) {
	services, err := c.hosts.Do(ctx, host, func(ctx context.Context) (*svcdisco.Host, error) {
		return c.discover(ctx, host)
	})
	if err != nil {
		return nil, c.fail(host, err)
	}
	u, err := services.ServiceURL(serviceID)
	if err != nil {
		return nil, c.fail(host, serviceError(err, serviceID))
	}
	_, forced := c.ForcedServices[host]
	if err := checkServiceURL(u, host, forced); err != nil {
		return nil, c.fail(host, err)
	}
	withSlash(u)
	return u, nil
}

// httpClient returns the client for requests to hosts.
func (c *Client) httpClient() *httpx.Client {
	return &httpx.Client{
		HTTP:           c.HTTPClient,
		UserAgent:      c.UserAgent,
		MaxRedirects:   maxRedirects,
		Refuse:         httpx.InsecureRedirect,
		AttemptTimeout: httpx.TimeoutOf(c.HTTPClient),
		Retry:          httpx.Retry{Max: c.Retries, FirstWait: c.RetryWait},
	}
}

// withSlash makes the last segment of a base URL part of what is resolved
// against it.
func withSlash(u *url.URL) {
	if strings.HasSuffix(u.Path, "/") {
		return
	}
	u.Path += "/"
	if u.RawPath != "" {
		u.RawPath += "/"
	}
}
