package disco

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cotterpin/cotter/addrs"
)

// CredentialsSource has credentials for hosts. ForHost returns nil without an
// error where it has none. It must be safe for concurrent use, and match the
// host exactly: credentials for "example.com" are not for its subdomains or
// other ports. Its errors are shown to users and must not hold secrets.
type CredentialsSource interface {
	ForHost(ctx context.Context, host addrs.Hostname) (Credentials, error)
}

// Credentials are what a host wants to see. PrepareRequest adds them to the
// header of a request; headers are what a redirect elsewhere takes off again.
type Credentials interface {
	PrepareRequest(req *http.Request)
}

// Authorize adds the credentials for a host to a request to one of its
// services. Nothing is added where there are none, or where the request is not
// https. An error is the context's or a *[CredentialsError]; the request is
// unchanged then, and the stock tools send it as it is.
func (c *Client) Authorize(ctx context.Context, host addrs.Hostname, req *http.Request) error {
	if c.Credentials == nil || req.URL.Scheme != "https" {
		return nil
	}
	// Once for each host: a credential helper is a program to be started.
	found, err := c.credentials.Do(ctx, host, func(ctx context.Context) (Credentials, error) {
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

// BearerToken is a token for the Authorization header (RFC 6750). Whatever
// prints it prints "REDACTED"; a conversion to string gives the token. An
// unexported field of another type is out of its reach: fmt prints that as
// plain text.
type BearerToken string

const redacted = "REDACTED"

// PrepareRequest sets the header Authorization. An empty token is sent too, as
// the stock tools do.
func (t BearerToken) PrepareRequest(req *http.Request) {
	req.Header.Set("Authorization", "Bearer "+string(t))
}

// Format prints "REDACTED" by any verb of package fmt.
func (t BearerToken) Format(f fmt.State, _ rune) {
	// A failure is the writer's, and fmt reports it.
	_, _ = f.Write([]byte(redacted))
}

// String returns "REDACTED".
func (t BearerToken) String() string { return redacted }

// MarshalText returns "REDACTED", for JSON and structured logs.
func (t BearerToken) MarshalText() ([]byte, error) { return []byte(redacted), nil }
