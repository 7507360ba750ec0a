package getproviders

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

// Login is a kind of credentials that is sent with a request, if the user has some.
type Login int

const (
	// LoginNone means that no credentials are sent.
	LoginNone Login = iota
	// LoginNetrc means the user name and password in the user's netrc file.
	LoginNetrc
	// LoginToken means the token for the host, as for a registry.
	LoginToken
)

// RefusedError says that a server has answered 401 or 403 to a request for an archive, for the sums of a release or
// for a document of a mirror.
type RefusedError struct {
	// URL is that of the answer, redacted.
	URL        string
	StatusCode int
	// CredentialsSent says that the request had credentials, which a redirect to another server removes.
	CredentialsSent bool
	// Login is what could be sent to this URL.
	Login Login
	Err   error
}

func (e *RefusedError) Error() string { return fmt.Sprint(e.Err) }

func (e *RefusedError) Unwrap() error { return e.Err }

// refused returns a *[RefusedError] for an answer with status 401 or 403 to a request that could have the login.
func refused(login Login, err error) error {
	status, ok := errors.AsType[*httpx.StatusError](err)
	if !ok || status.Answer.StatusCode != http.StatusUnauthorized && status.Answer.StatusCode != http.StatusForbidden {
		return err
	}
	at := status.Answer.URL()
	e := &RefusedError{URL: addrs.Redact(at.String()), StatusCode: status.Answer.StatusCode, Err: err}
	if httpx.SameOrigin(at, status.Answer.Asked[0]) {
		e.CredentialsSent, e.Login = status.Answer.Authorized, login
	}
	return e
}

// withNetrc adds the user and the password that find has for the server of an https URL without one.
func withNetrc(ctx context.Context, at *url.URL, find func(context.Context, *url.URL) (*url.Userinfo, error)) (*url.URL, error) {
	if find == nil || at.User != nil || at.Scheme != "https" {
		return at, nil
	}
	user, err := find(ctx, at)
	if err != nil || user == nil {
		return at, err
	}
	with := *at
	with.User = user
	return &with, nil
}

// netrcLogin returns LoginNetrc if withNetrc looks for credentials.
func netrcLogin(at *url.URL, find func(context.Context, *url.URL) (*url.Userinfo, error)) Login {
	if find == nil || at.Scheme != "https" {
		return LoginNone
	}
	return LoginNetrc
}
