package registryclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpx"
)

// request is an HTTP request about a subject.
type request struct {
	subject
	url *url.URL
	// secrets are the values of the headers that contain credentials.
	secrets []string
	// authorized is set if credentials are sent. If it is not set, credentialsErr is the
	// reason, or nil if there are no credentials.
	authorized     bool
	credentialsErr error
}

// build returns the HTTP request, with the registry's credentials if withCredentials is
// set.
func (r *request) build(ctx context.Context, services Services, withCredentials bool) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url.String(), nil)
	if err != nil {
		return nil, err
	}
	if !withCredentials {
		return req, nil
	}
	if r.credentialsErr = services.Authorize(ctx, r.host(), req); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// The request had no other headers before.
	r.authorized = len(req.Header) > 0
	for _, values := range req.Header {
		r.secrets = append(r.secrets, values...)
	}
	return req, nil
}

// get sends a request to an endpoint of the protocol.
func (c *Client) get(ctx context.Context, r *request, limit int64) (*httpx.Answer, error) {
	req, err := r.build(ctx, c.Services, true)
	if err != nil {
		return nil, r.fail(err)
	}
	req.Header.Set("Accept", "application/json")
	answer, err := c.httpClient().Read(req, limit)
	if err != nil {
		return nil, r.fail(err)
	}
	return answer, nil
}

// fail returns the error of a request without a usable answer.
func (r *request) fail(err error) *RequestError {
	if isRefusal(err) {
		err = fmt.Errorf("%w: %w", ErrInvalidAnswer, err)
	} else if network, ok := errors.AsType[*httpx.NetworkError](err); ok {
		hint := "check the network and the proxy settings, or try again later"
		if network.IsUntrusted() {
			hint = "check the host, the certificates of this system, and proxies that intercept connections"
		}
		err = fmt.Errorf("%w; %s", network, hint)
	}
	failure := failBefore(r.subject, err)
	failure.URL = addrs.Redact(r.url.String())
	failure.CredentialsSent = r.authorized
	return failure
}

// failWith returns the error of a request with an answer that cannot be used.
func (r *request) failWith(answer *httpx.Answer, err error) *RequestError {
	failure := r.fail(err)
	failure.StatusCode = answer.StatusCode
	return failure
}

// failBefore returns the error of a request that was not sent.
func failBefore(about subject, err error) *RequestError {
	return &RequestError{Package: about.module, Provider: about.provider, Version: about.version, Platform: about.platform, Err: err}
}

// isRefusal reports whether the client refused the answer, rather than not receiving it.
func isRefusal(err error) bool {
	_, redirect := errors.AsType[*httpx.RedirectError](err)
	_, large := errors.AsType[*httpx.TooLargeError](err)
	return redirect || large
}
