package disco

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cotterpin/cotter/addrs"
)

// CredentialsSource provides credentials for hosts. ForHost returns nil and no error
// if there are none. It must be safe for concurrent use, and match the host exactly:
// credentials for "example.com" are not for its subdomains or other ports. Its
// errors are shown to users and must not contain secrets.
type CredentialsSource interface {
	ForHost(ctx context.Context, host addrs.Hostname) (Credentials, error)
}

// Credentials are the credentials for a host. PrepareRequest adds them to the header
// of a request, from which a redirect to another origin removes them.
type Credentials interface {
	PrepareRequest(req *http.Request)
}

// Authorize adds the credentials for a host to a request to one of its services. It
// does nothing if there are none or the request is not https. An error is the
// context's or a *[CredentialsError]. The request is then unchanged; stock tools
// send it without credentials.
func (c *Client) Authorize(ctx context.Context, host addrs.Hostname, req *http.Request) error {
	if c.Credentials == nil || req.URL.Scheme != "https" {
		return nil
	}
	// Once for each host, because a credential helper is an external program.
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

// BearerToken is a token for the Authorization header (RFC 6750). It prints as
// "REDACTED"; a conversion to string returns the token. In an unexported field of
// another type, fmt prints it as plain text, which this type cannot prevent.
type BearerToken string

const redacted = "REDACTED"

// PrepareRequest sets the header Authorization. An empty token is sent too, as by
// stock tools.
func (t BearerToken) PrepareRequest(req *http.Request) {
	req.Header.Set("Authorization", "Bearer "+string(t))
}

// Format prints "REDACTED" for every verb of package fmt.
func (t BearerToken) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte(redacted)) // fmt reports errors of the writer
}

// String returns "REDACTED".
func (t BearerToken) String() string { return redacted }

// MarshalText returns "REDACTED", for JSON and structured logs.
func (t BearerToken) MarshalText() ([]byte, error) { return []byte(redacted), nil }
