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

// request is one request about a release, or about a package if it has no
// version.
type request struct {
	release
	url *url.URL
	// secrets are the values of the headers that prove who asks.
	secrets []string
	// authorized says whether credentials are sent. Where they are not,
	// credentialsErr may say why.
	authorized     bool
	credentialsErr error
}

// build makes the request. withCredentials is whether the registry's
// credentials are meant for its URL.
func (r *request) build(ctx context.Context, services Services, withCredentials bool) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url.String(), nil)
	if err != nil {
		return nil, err
	}
	if !withCredentials {
		return req, nil
	}
	if r.credentialsErr = services.Authorize(ctx, r.pkg.Host, req); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// Nothing else has put a header in yet.
	r.authorized = len(req.Header) > 0
	for _, values := range req.Header {
		r.secrets = append(r.secrets, values...)
	}
	return req, nil
}

// get asks an endpoint of the protocol.
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

// fail is a failure without an answer, or in none that was of use.
func (r *request) fail(err error) *RequestError {
	if isRefusal(err) {
		err = fmt.Errorf("%w: %w", ErrInvalidAnswer, err)
	} else if network, ok := errors.AsType[*httpx.NetworkError](err); ok {
		err = fmt.Errorf("the exchange with the registry failed: %w; check the network and the proxy settings, or try again later", network)
	}
	return &RequestError{Package: r.pkg, Version: r.version, URL: addrs.Redact(r.url.String()), Err: err}
}

// failWith is a failure in an answer.
func (r *request) failWith(answer *httpx.Answer, err error) *RequestError {
	failure := r.fail(err)
	failure.StatusCode = answer.StatusCode
	return failure
}

// failBefore is a failure before there is a URL.
func failBefore(about release, err error) *RequestError {
	return &RequestError{Package: about.pkg, Version: about.version, Err: err}
}

// isRefusal tells our own verdicts from failures of the network.
func isRefusal(err error) bool {
	_, redirect := errors.AsType[*httpx.RedirectError](err)
	_, large := errors.AsType[*httpx.TooLargeError](err)
	return redirect || large
}
