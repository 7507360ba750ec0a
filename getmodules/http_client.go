package getmodules

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

const (
	// maxRedirects is enough for a forge's canonical host name and then its storage.
	maxRedirects        = 5
	defaultStallTimeout = 30 * time.Second
)

// httpClient returns the client for this package's requests. stall is the default of StallTimeout.
func (f *Fetcher) httpClient(stall time.Duration) *httpx.Client {
	return &httpx.Client{
		HTTP:         f.HTTPClient,
		UserAgent:    f.UserAgent,
		MaxRedirects: maxRedirects,
		Retry:        f.retry(),
		Floor:        f.floor(stall),
	}
}

func (f *Fetcher) retry() httpx.Retry {
	return httpx.Retry{Attempts: f.Attempts, Backoff: f.Backoff, Pauses: &f.pauses}
}

// floor returns the minimum rate. stall is the default of StallTimeout.
func (f *Fetcher) floor(stall time.Duration) httpx.Floor {
	return httpx.Floor{PerSecond: f.Limits.MinRate, Window: cmp.Or(f.StallTimeout, stall)}
}

// get passes an answer with any 2xx status to receive, and retries failures that may be temporary.
func (f *Fetcher) get(ctx context.Context, u *url.URL, user *url.Userinfo, receive func(*httpx.Response) error) error {
	req, err := newRequest(ctx, http.MethodGet, u, user)
	if err != nil {
		return err
	}
	return httpError(f.httpClient(defaultStallTimeout).Do(req, receive))
}

// newRequest asks for the identity encoding, because checksums apply to the bytes as they are stored.
func newRequest(ctx context.Context, method string, u *url.URL, user *url.Userinfo) (*http.Request, error) {
	req := (&http.Request{Method: method, URL: u, Host: u.Host, Header: http.Header{}}).WithContext(ctx)
	req.Header.Set("Accept-Encoding", "identity")
	if user == nil {
		return req, nil
	}
	if u.Scheme != "https" && !hostname.IsLoopback(u) {
		return nil, errors.New("the address contains credentials, which are sent by https only")
	}
	password, _ := user.Password()
	pair := user.Username() + ":" + password
	req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
	return req, nil
}

// HTTPCredentials returns the user name and password for an http server, or nil. The URL has only a scheme,
// a host and a path. The function must be safe for concurrent use.
type HTTPCredentials func(ctx context.Context, at *url.URL) (*url.Userinfo, error)

// userFor returns the credentials in an address, or else those of [Fetcher.HTTPCredentials]. Those are for
// a server, not for a package, so they require encryption and that no other server named the address.
func (f *Fetcher) userFor(ctx context.Context, req Request, addr *archiveAddress) (*url.Userinfo, error) {
	u := addr.url
	if addr.user != nil || f.HTTPCredentials == nil || !mayCarryCredentials(req, u) {
		return addr.user, nil
	}
	return f.HTTPCredentials(ctx, &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path})
}

// mayCarryCredentials requires that the connection is encrypted or within this machine, and that no other
// server has named the address.
func mayCarryCredentials(req Request, u *url.URL) bool {
	encrypted := u.Scheme == "https" || u.Scheme == "http" && hostname.IsLoopback(u)
	return encrypted && (!req.FromServer || hasOrigin(req.Origin, u))
}

func hasOrigin(raw string, u *url.URL) bool {
	from, err := url.Parse(raw)
	return err == nil && httpx.SameOrigin(from, u)
}

// StatusError means that an http server answered with an unexpected status. It wraps [ErrAuthentication]
// for 401 and 403, and fs.ErrNotExist for 404 and 410. Of git, 401, 403 and 404 are only
// [ErrAuthentication] and [ErrRepositoryNotFound].
type StatusError struct {
	// URL is redacted, after redirects.
	URL        string
	StatusCode int
	// CredentialsSent is set if the request is known to have had credentials: never for git in this process.
	CredentialsSent bool

	answered *httpx.StatusError // nil in the error of a caller's getter
}

func newStatusError(status *httpx.StatusError) *StatusError {
	return &StatusError{
		URL: addrs.Redact(status.Answer.URL().String()), StatusCode: status.Answer.StatusCode, CredentialsSent: status.Answer.Authorized,
		answered: status,
	}
}

// gitStatusError is for what git says about an answer to a request for at.
func gitStatusError(at *url.URL, code int, retryAfter string) *StatusError {
	status := &httpx.StatusError{Answer: &httpx.Answer{StatusCode: code, Asked: []*url.URL{at}, RetryAfter: httpx.ParseRetryAfter(retryAfter)}}
	if status.IsRefusal() {
		status.Meaning = "there are no credentials that it accepts"
	}
	return newStatusError(status)
}

func (e *StatusError) answer() *httpx.StatusError {
	if e.answered != nil {
		return e.answered
	}
	at := hostname.URLIn(e.URL)
	return &httpx.StatusError{Answer: &httpx.Answer{StatusCode: e.StatusCode, Asked: []*url.URL{at}, Authorized: e.CredentialsSent}}
}

func (e *StatusError) Error() string { return e.answer().Error() }

func (e *StatusError) Unwrap() []error {
	switch e.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return []error{ErrAuthentication, e.answer()}
	case http.StatusNotFound, http.StatusGone:
		return []error{fs.ErrNotExist, e.answer()}
	}
	return []error{e.answer()}
}

func isDenied(err error) bool {
	_, denied := errors.AsType[*httpx.DeniedError](err)
	return denied
}

func httpError(err error) error {
	if status, ok := errors.AsType[*httpx.StatusError](err); ok {
		return newStatusError(status)
	}
	if refused, ok := errors.AsType[*httpx.RedirectError](err); ok {
		return fmt.Errorf("%w: %w", ErrRefusedLocation, refused)
	}
	if _, ok := errors.AsType[*httpx.ReachError](err); ok {
		return fmt.Errorf("%w: %w", ErrRefusedLocation, err)
	}
	if large, ok := errors.AsType[*httpx.TooLargeError](err); ok {
		return fmt.Errorf("%w: the answer has more than %d bytes", ErrTooLarge, large.Limit)
	}
	return err
}
