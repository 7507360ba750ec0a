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
	"github.com/cotterpin/cotter/internal/hostname"
	"github.com/cotterpin/cotter/internal/httpx"
)

const (
	// maxRedirects is enough for a forge that redirects first to its canonical host name and
	// then to its storage.
	maxRedirects = 5
	// maxLocation bounds the length of an address that a server names, in bytes.
	maxLocation = 8 << 10
	// defaultStallTimeout is the time in which an http server must begin to answer, and the
	// window over which its answer must keep to the minimum rate.
	defaultStallTimeout = 30 * time.Second
)

// httpClient returns the client for requests that this package sends itself. stall is the
// window for slow servers if Fetcher.StallTimeout is not set.
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

// floor returns the minimum rate of a transfer under the Fetcher's limits. stall is its window
// if Fetcher.StallTimeout is not set.
func (f *Fetcher) floor(stall time.Duration) httpx.Floor {
	return httpx.Floor{PerSecond: f.Limits.MinRate, Window: cmp.Or(f.StallTimeout, stall)}
}

// get requests a URL and passes the answer to receive. It retries failures that may be
// temporary. Answers with any 2xx status are passed on.
func (f *Fetcher) get(ctx context.Context, u *url.URL, user *url.Userinfo, receive func(*httpx.Response) error) error {
	req, err := newRequest(ctx, http.MethodGet, u, user)
	if err != nil {
		return err
	}
	return httpError(f.httpClient(defaultStallTimeout).Do(req, receive))
}

// newRequest creates a request. If user is not nil, the request has its credentials. It asks
// for the identity encoding, because checksums apply to the bytes as they are stored.
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

// HTTPCredentials returns the user name and password for an http server, or nil if there are
// none. The URL has only a scheme, a host and a path. The function must be safe for concurrent
// use.
type HTTPCredentials func(ctx context.Context, at *url.URL) (*url.Userinfo, error)

// userFor returns the credentials for an address: the credentials in the address, or else the
// result of [Fetcher.HTTPCredentials]. The latter are for a server, not for a particular
// package. They are therefore not used if another server named the address, and they require
// encryption.
func (f *Fetcher) userFor(ctx context.Context, req Request, addr *archiveAddress) (*url.Userinfo, error) {
	u := addr.url
	if addr.user != nil || f.HTTPCredentials == nil || !mayCarryCredentials(req, u) {
		return addr.user, nil
	}
	return f.HTTPCredentials(ctx, &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path})
}

// mayCarryCredentials reports whether the caller's credentials for a server may be sent with a
// request to it. The connection must be encrypted or within this machine, and no other server
// may have named the address.
func mayCarryCredentials(req Request, u *url.URL) bool {
	encrypted := u.Scheme == "https" || u.Scheme == "http" && hostname.IsLoopback(u)
	return encrypted && (!req.FromServer || hasOrigin(req.Origin, u))
}

func hasOrigin(raw string, u *url.URL) bool {
	from, err := url.Parse(raw)
	return err == nil && httpx.SameOrigin(from, u)
}

// StatusError means that an http server answered with an unexpected status. It wraps
// [ErrAuthentication] for 401 and 403, and fs.ErrNotExist for 404 and 410. For a git server,
// git reports the status, and 401, 403 and 404 are only the errors [ErrAuthentication] and
// [ErrRepositoryNotFound].
type StatusError struct {
	// URL is the requested URL, after redirects, redacted.
	URL        string
	StatusCode int
	// CredentialsSent is set if the request had credentials. It is always false for OCI
	// registries and the built-in git client, for which this is not known.
	CredentialsSent bool

	redirected bool
	attempts   int
	retryAfter httpx.RetryAfter
}

// Error returns a message without the server's own text for the status.
func (e *StatusError) Error() string {
	message := "the server"
	if e.redirected {
		message = fmt.Sprintf("after a redirect, %q", e.URL)
	}
	message += " answered " + (&httpx.Answer{StatusCode: e.StatusCode, Attempts: e.attempts}).Status()
	switch {
	case errors.Is(e, ErrAuthentication):
		message += "; check the credentials for this host"
	case errors.Is(e, fs.ErrNotExist):
		message += "; check the address, and credentials if the package is private"
	}
	return message + e.retryAfter.Advice()
}

// Unwrap returns the sentinel for the status, or nil.
func (e *StatusError) Unwrap() error {
	switch e.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ErrAuthentication
	case http.StatusNotFound, http.StatusGone:
		return fs.ErrNotExist
	}
	return nil
}

// withCredentials records in a *StatusError that the request had credentials.
func withCredentials(err error, user *url.Userinfo) error {
	if status, ok := errors.AsType[*StatusError](err); ok && user != nil {
		status.CredentialsSent = true
	}
	return err
}

// isDenied reports whether a request was not sent because a rule of the caller denies its URL.
func isDenied(err error) bool {
	_, denied := errors.AsType[*httpx.DeniedError](err)
	return denied
}

func httpError(err error) error {
	if status, ok := errors.AsType[*httpx.StatusError](err); ok {
		answer := status.Answer
		return &StatusError{
			URL: addrs.Redact(answer.URL().String()), StatusCode: answer.StatusCode,
			redirected: len(answer.Asked) > 1, attempts: answer.Attempts, retryAfter: answer.RetryAfter,
		}
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
