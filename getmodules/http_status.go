package getmodules

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/pause"
)

// StatusError is an answer by http with a status that is not wanted. It is
// [ErrAuthentication] for 401 and 403, and fs.ErrNotExist for 404 and 410.
type StatusError struct {
	// URL is what was asked for, after redirects, redacted.
	URL        string
	StatusCode int

	// pause is how long the server wants to be left alone.
	pause     time.Duration
	asksPause bool
}

func newStatusError(answer *httpAnswer) *StatusError {
	return statusError(answer.asked[len(answer.asked)-1], answer.StatusCode, answer.Header.Get("Retry-After"))
}

func statusError(asked *url.URL, status int, retryAfter string) *StatusError {
	e := &StatusError{URL: addrs.Redact(asked.String()), StatusCode: status}
	if e.isTemporary() {
		e.pause, e.asksPause = pause.Asked(retryAfter)
	}
	return e
}

// isTemporary reports whether the same request may be answered some time.
func (e *StatusError) isTemporary() bool {
	return e.StatusCode == http.StatusTooManyRequests || e.StatusCode >= 500 && e.StatusCode != http.StatusNotImplemented
}

// asksTooMuch reports whether the server wants a longer pause than can be kept.
func (e *StatusError) asksTooMuch() bool { return e.asksPause && e.pause > pause.Longest }

// Error does not show the server's own words for the status.
func (e *StatusError) Error() string {
	message := fmt.Sprintf("%q answers %d %s", e.URL, e.StatusCode, http.StatusText(e.StatusCode))
	switch {
	case errors.Is(e, ErrAuthentication):
		message += "; check the credentials for this host"
	case errors.Is(e, fs.ErrNotExist):
		message += "; check the address, and credentials if the package is private"
	case e.asksTooMuch():
		message += fmt.Sprintf("; it asks to be left alone for %v, so try again then", e.pause.Round(time.Second))
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
