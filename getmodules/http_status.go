package getmodules

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/pause"
)

// StatusError is an answer by http with a status that is not wanted. It is
// [ErrAuthentication] for 401 and 403, and fs.ErrNotExist for 404 and 410.
type StatusError struct {
	// URL is what was asked for, after redirects, redacted.
	URL        string
	StatusCode int

	pause pause.Request
}

func newStatusError(answer *httpAnswer) *StatusError {
	return statusError(answer.asked[len(answer.asked)-1], answer.StatusCode, answer.Header.Get("Retry-After"))
}

func statusError(asked *url.URL, status int, retryAfter string) *StatusError {
	e := &StatusError{URL: addrs.Redact(asked.String()), StatusCode: status}
	if pause.IsTemporary(status) {
		e.pause = pause.Requested(retryAfter)
	}
	return e
}

// Error does not show the server's own words for the status.
func (e *StatusError) Error() string {
	message := fmt.Sprintf("%q answers %d %s", e.URL, e.StatusCode, http.StatusText(e.StatusCode))
	switch {
	case errors.Is(e, ErrAuthentication):
		message += "; check the credentials for this host"
	case errors.Is(e, fs.ErrNotExist):
		message += "; check the address, and credentials if the package is private"
	}
	return message + e.pause.Advice()
}

// Unwrap gives the sentinel that the status stands for.
func (e *StatusError) Unwrap() error {
	switch e.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ErrAuthentication
	case http.StatusNotFound, http.StatusGone:
		return fs.ErrNotExist
	}
	return nil
}
