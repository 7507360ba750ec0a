package disco

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/secret"
	"github.com/cotterpin/cotter/internal/singleflight"
)

// CredentialsSource provides credentials for hosts. ForHost returns nil and no error if
// there are none. It must be safe for concurrent use. It must match the host exactly:
// credentials for "example.com" are not for its subdomains or other ports. Its errors are
// shown to users and must not contain secrets.
type CredentialsSource interface {
	ForHost(ctx context.Context, host addrs.Hostname) (Credentials, error)
}

// Credentials are the credentials for a host. PrepareRequest adds them to the header of a
// request. A redirect to another origin removes them.
type Credentials interface {
	PrepareRequest(req *http.Request)
}

// Authorize adds the credentials for a host to a request to one of its services. It does
// nothing if there are no credentials or if the request is not https. The error is the
// context's or a *[CredentialsError]. After an error the request is unchanged, and stock
// tools send it without credentials.
func (c *Client) Authorize(ctx context.Context, host addrs.Hostname, req *http.Request) error {
	if c.Credentials == nil || req.URL.Scheme != "https" {
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

// BearerToken is a token for the Authorization header (RFC 6750). It is printed as
// "REDACTED"; a conversion to string returns the token. If a BearerToken is in an
// unexported field of another type, fmt prints the token as plain text, which this type
// cannot prevent.
type BearerToken string

// PrepareRequest sets the header Authorization. An empty token is sent too, as in stock
// tools.
func (t BearerToken) PrepareRequest(req *http.Request) {
	req.Header.Set("Authorization", "Bearer "+string(t))
}

// Format prints "REDACTED" for every verb of package fmt.
func (t BearerToken) Format(f fmt.State, _ rune) {
	secret.Format(f)
}

// String returns "REDACTED".
func (t BearerToken) String() string { return secret.Redacted }

// MarshalText returns "REDACTED", for JSON and structured logs.
func (t BearerToken) MarshalText() ([]byte, error) { return []byte(secret.Redacted), nil }
