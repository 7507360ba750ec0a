package disco

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	svcdisco "github.com/opentofu/svchost/disco"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/process/singleflight"
)

const (
	// maxDocument limits a document, a map with few entries, in bytes. Stock tools have the same limit.
	maxDocument = 1 << 20
	// maxRedirects allows a redirect to another domain and one to a canonical name.
	maxRedirects = 3
)

// Client looks up services. The zero value is ready for use and sends no credentials. A Client is safe
// for concurrent use; once it is in use, it must not be copied and its fields must not change. It
// remembers documents and credentials until a run of an installer.Installer ends, otherwise as long as it
// lives; see Fresh.
type Client struct {
	// HTTPClient provides the transport, and its Timeout, by default 30 s, limits each attempt. Its
	// CheckRedirect and Jar are ignored. nil means http.DefaultTransport.
	HTTPClient *http.Client
	// Credentials provides the credentials for hosts, or nil for none. It is called once for each host,
	// and again after an error or if the host refuses the credentials; see Refused.
	Credentials CredentialsSource
	// LoopbackHTTP, which is meant for tests, also sends credentials by http, in plain text, to services
	// at a loopback address or "localhost". Any local program that can listen on the port then gets the
	// token.
	LoopbackHTTP bool
	// ForcedServices maps hosts to service identifiers and services, which replace discovery, like "host"
	// blocks of a CLI configuration. A value other than a string is treated as missing. The credentials for the host
	// are also sent to a service at http on this machine, in plain text: a local program that listens on the port in
	// its place gets them.
	ForcedServices map[addrs.Hostname]map[string]any
	// UserAgent is sent with each request. "" means "cotter".
	UserAgent string
	// Attempts is how often a request is sent at most. 0 means 4; 1 means no retry.
	Attempts int
	// RetryWait is the maximum wait before the first retry; later waits are up to 16 times longer. 0
	// means 500 ms.
	RetryWait time.Duration

	hosts       singleflight.Group[httpx.Shared[addrs.Hostname], *svcdisco.Host]
	credentials singleflight.Group[addrs.Hostname, Credentials]
	// renewed has the credentials that replace refused ones.
	renewed singleflight.Memo[refused, Credentials]
}

// Fresh returns a client with the same settings and connections that remembers nothing, not even what a
// server has refused. c may be in use. Programs with an installer.Installer, whose every run asks again,
// do not need it. Others call it when a service may have moved or a token was renewed.
func (c *Client) Fresh() *Client {
	return &Client{
		HTTPClient: c.HTTPClient, Credentials: c.Credentials, LoopbackHTTP: c.LoopbackHTTP, ForcedServices: c.ForcedServices,
		UserAgent: c.UserAgent, Attempts: c.Attempts, RetryWait: c.RetryWait,
	}
}

// ServiceURL returns the base URL, ending in "/", of a service at a host. The identifier is a name and a
// major version, such as "modules.v1". The error is a *[DiscoveryError].
func (c *Client) ServiceURL(ctx context.Context, host addrs.Hostname, serviceID string) (*url.URL, error) {
	services, err := singleflight.For(ctx, &c.hosts).Do(ctx, httpx.Share(ctx, host), func(ctx context.Context) (*svcdisco.Host, error) {
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

func (c *Client) httpClient() *httpx.Client {
	return &httpx.Client{
		HTTP:           c.HTTPClient,
		UserAgent:      c.UserAgent,
		MaxRedirects:   maxRedirects,
		Refuse:         httpx.InsecureRedirect,
		AttemptTimeout: httpx.TimeoutOf(c.HTTPClient),
		Retry:          httpx.Retry{Attempts: c.Attempts, FirstWait: c.RetryWait},
	}
}

// withSlash appends "/" to the path of a base URL, so that relative URLs keep its last segment.
func withSlash(u *url.URL) {
	if strings.HasSuffix(u.Path, "/") {
		return
	}
	u.Path += "/"
	if u.RawPath != "" {
		u.RawPath += "/"
	}
}

// serviceError replaces svcdisco's error types with the sentinel errors of this package.
func serviceError(err error, serviceID string) error {
	if _, ok := errors.AsType[*svcdisco.ErrVersionNotSupported](err); ok {
		return fmt.Errorf("%w: there is no usable %q in its list of services", ErrVersionNotSupported, serviceID)
	}
	if _, ok := errors.AsType[*svcdisco.ErrServiceNotProvided](err); ok {
		return fmt.Errorf("%w: there is no %q in its list of services", ErrServiceNotProvided, serviceID)
	}
	return fmt.Errorf("%w: the URL of %q: %s", ErrInvalidAnswer, serviceID, httpx.Printable(err.Error()))
}

// checkServiceURL refuses URLs that are not https, because stock tools would send tokens to them in plain
// text. A service on this machine's loopback is allowed, but a remote host may not point to it.
func checkServiceURL(u *url.URL, host addrs.Hostname, forced bool) error {
	from := &url.URL{Host: string(host)}
	hostname.NormalizeURL(from) // as in the request for the document
	local := hostname.IsLoopback(u) && (forced || hostname.IsLoopback(from))
	reason, ok := hostname.MayPointTo(from, u)
	switch {
	case u.Scheme != "https" && !local:
		reason = "it is not https"
	case u.Hostname() == "":
		reason = "it has no host"
	case ok || forced:
		return nil
	}
	return fmt.Errorf("%w: the service's URL %q: %s", ErrInvalidAnswer, addrs.Redact(u.String()), reason)
}
