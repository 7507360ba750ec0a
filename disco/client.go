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
	"github.com/cotterpin/cotter/internal/hostname"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/singleflight"
)

const (
	// maxDocument is the maximum size of a document, which is a map with few entries, in
	// bytes. Stock tools have the same limit.
	maxDocument = 1 << 20
	// maxRedirects allows a redirect to another domain and one to a canonical name.
	maxRedirects = 3
)

// Client looks up services. The zero value is ready for use and sends no credentials. A
// Client is safe for concurrent use. Once it is in use, it must not be copied and its
// fields must not change. It remembers documents and credentials until a run of a
// installer.Installer ends, otherwise as long as it lives; see Fresh.
type Client struct {
	// HTTPClient provides the transport, and its Timeout limits each attempt. nil
	// means http.DefaultTransport; a Timeout of zero means 30 s. Its CheckRedirect
	// and Jar are ignored.
	HTTPClient *http.Client
	// Credentials provides the credentials for hosts. nil means that there are no
	// credentials. It is called once for each host, and again if it returned an error or
	// if the host refuses the credentials; see Refused.
	Credentials CredentialsSource
	// LoopbackHTTP also sends credentials by http, in plain text, to services at a loopback
	// address of this machine or at "localhost". Every program and user of this machine that
	// can listen on the service's port then gets the token. It is meant for tests.
	LoopbackHTTP bool
	// ForcedServices maps hosts to service identifiers and their services, which replace
	// discovery, like the "host" blocks of a CLI configuration. A value other than a string
	// is treated as missing.
	ForcedServices map[addrs.Hostname]map[string]any
	// UserAgent is sent with each request. "" means "cotter".
	UserAgent string
	// Attempts is how often a request is sent at most. 0 means 4; 1 means that a failed request
	// is never repeated.
	Attempts int
	// RetryWait is the maximum wait before the first retry. Later waits are up to 16 times
	// longer. Zero means 500 ms.
	RetryWait time.Duration

	hosts       singleflight.Group[httpx.Shared[addrs.Hostname], *svcdisco.Host]
	credentials singleflight.Group[addrs.Hostname, Credentials]
	// renewed has the credentials that replace refused ones.
	renewed singleflight.Memo[refused, Credentials]
}

// Fresh returns a client with the same settings and connections that remembers nothing: it
// requests documents and asks for credentials again, also those that a server has refused. c may be
// in use, and is not changed. Programs with a installer.Installer do not need it, because each run of
// an Installer asks again. Others call it when a service may have moved or a token was renewed.
func (c *Client) Fresh() *Client {
	return &Client{
		HTTPClient: c.HTTPClient, Credentials: c.Credentials, LoopbackHTTP: c.LoopbackHTTP, ForcedServices: c.ForcedServices,
		UserAgent: c.UserAgent, Attempts: c.Attempts, RetryWait: c.RetryWait,
	}
}

// ServiceURL returns the base URL of a service at a host. The path of the URL ends in "/".
// The identifier is a name and a major version, such as "modules.v1". The error is a
// *[DiscoveryError] that wraps a sentinel error of this package or the context's error.
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

// withSlash appends "/" to the path of a base URL, so that the resolution of a relative URL
// keeps the last segment.
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

// checkServiceURL refuses URLs that are not https, because tokens would be sent to them in
// plain text, as stock tools do. A service on this machine's loopback is allowed, but a
// remote host may not point to it.
func checkServiceURL(u *url.URL, host addrs.Hostname, forced bool) error {
	from := &url.URL{Host: string(host)}
	hostname.NormalizeURL(from) // as in the request for the document
	local := hostname.IsLoopback(u) && (forced || hostname.IsLoopback(from))
	if u.Scheme != "https" && !local {
		return fmt.Errorf("%w: the service's URL %q is not https", ErrInvalidAnswer, addrs.Redact(u.String()))
	}
	if u.Host == "" {
		return fmt.Errorf("%w: the service's URL %q has no host", ErrInvalidAnswer, addrs.Redact(u.String()))
	}
	if reason, ok := hostname.MayPointTo(from, u); !ok && !forced {
		return fmt.Errorf("%w: the service's URL %q: %s", ErrInvalidAnswer, addrs.Redact(u.String()), reason)
	}
	return nil
}
