package getmodules

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"github.com/cotterpin/cotter/addrs"
)

// StatusError is an answer by http with a status that is not wanted. It is
// [ErrAuthentication] for 401 and 403, and fs.ErrNotExist for 404 and 410.
type StatusError struct {
	// URL is what was asked for, after redirects, redacted.
	URL        string
	StatusCode int

	retryAfter time.Duration
}

func newStatusError(answer *httpAnswer) *StatusError {
	return &StatusError{
		URL:        addrs.Redact(answer.asked[len(answer.asked)-1].String()),
		StatusCode: answer.StatusCode,
		retryAfter: retryAfter(answer.Header.Get("Retry-After")),
	}
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
	return message
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
