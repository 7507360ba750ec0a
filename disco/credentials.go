package disco

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

// CredentialsSource provides credentials for hosts. ForHost returns nil and no error if there are none.
// It must be safe for concurrent use, and match the host exactly, without its subdomains and other ports.
// Its errors are shown to users and must not contain secrets.
type CredentialsSource interface {
	ForHost(ctx context.Context, host addrs.Hostname) (Credentials, error)
}

// Credentials add themselves to the header of a request. A redirect to another origin removes them.
type Credentials interface {
	PrepareRequest(req *http.Request)
}

// Authorize adds the credentials for a host to a request to one of its services. It does nothing if there
// are none, or if the request is not https; LoopbackHTTP, and a service of ForcedServices on this machine, allow http.
// The error is the context's or a *[CredentialsError]; the request is then unchanged, and stock tools send it without
// credentials.
func (c *Client) Authorize(ctx context.Context, host addrs.Hostname, req *http.Request) error {
	if c.Credentials == nil || !c.maySend(host, req.URL) {
		return nil
	}
	// Call ForHost once for each host, because a credentials helper is an external program.
	found, err := singleflight.For(ctx, &c.credentials).Do(ctx, host, func(ctx context.Context) (Credentials, error) {
		return c.Credentials.ForHost(ctx, host)
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &CredentialsError{Host: host, Err: err}
	case found != nil:
		found.PrepareRequest(req)
	}
	return nil
}

func (c *Client) maySend(host addrs.Hostname, u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && hostname.IsLoopback(u) && (c.LoopbackHTTP || c.isForced(host, u))
}

// isForced reports whether a URL is below that of a service in ForcedServices: not what a document or an answer names.
func (c *Client) isForced(host addrs.Hostname, u *url.URL) bool {
	for _, value := range c.ForcedServices[host] {
		text, _ := value.(string)
		service, err := url.Parse(text)
		if err != nil || !httpx.SameOrigin(service, u) {
			continue
		}
		withSlash(service)
		if strings.HasPrefix(u.EscapedPath(), service.EscapedPath()) && !strings.Contains(u.EscapedPath(), "/..") {
			return true
		}
	}
	return false
}

// refused identifies refused credentials of a host by a hash of the request's header.
type refused struct {
	host   addrs.Hostname
	header [sha256.Size]byte
}

// Refused asks for the credentials for a host again, after its server has answered 401 to a request that
// Authorize has changed. It reports whether Authorize now adds others. The same credentials are renewed
// once.
func (c *Client) Refused(ctx context.Context, host addrs.Hostname, req *http.Request) bool {
	if c.Credentials == nil || !c.maySend(host, req.URL) {
		return false
	}
	key := refused{host, sumOf(req.Header)}
	found, err := singleflight.For(ctx, &c.renewed).Do(ctx, key, func(ctx context.Context) (Credentials, error) {
		// A source that remembers credentials must ask again too.
		found, err := c.Credentials.ForHost(new(singleflight.Memory).In(ctx), host)
		if err == nil {
			singleflight.For(ctx, &c.credentials).Set(host, found)
		}
		return found, err
	})
	if err != nil || found == nil {
		return false
	}
	again := req.Clone(ctx)
	found.PrepareRequest(again)
	return sumOf(again.Header) != key.header
}

// sumOf returns a hash of the part of a header that can be credentials, which are secrets.
func sumOf(header http.Header) [sha256.Size]byte {
	sum := sha256.New()
	_ = header.WriteSubset(sum, map[string]bool{"Accept": true, "Accept-Encoding": true, "User-Agent": true}) // sorted by name
	return [sha256.Size]byte(sum.Sum(nil))
}

// BearerToken is a token for the Authorization header (RFC 6750). It is printed as "REDACTED", unless it
// is in an unexported field of another type, where fmt prints the token. A conversion to string returns
// it.
type BearerToken string

// PrepareRequest sets the header Authorization, even to an empty token, as in stock tools.
func (t BearerToken) PrepareRequest(req *http.Request) {
	req.Header.Set("Authorization", "Bearer "+string(t))
}

// Format prints "REDACTED" for every verb of package fmt.
func (t BearerToken) Format(f fmt.State, _ rune) {
	sanitize.FormatRedacted(f)
}

func (t BearerToken) String() string { return sanitize.Redacted }

// MarshalText returns "REDACTED", for JSON and structured logs.
func (t BearerToken) MarshalText() ([]byte, error) { return []byte(sanitize.Redacted), nil }
