package httpapi

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/minrate"
)

// TooLargeError says that a body is longer than its limit.
type TooLargeError struct{ Limit int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the answer is larger than the limit of %d bytes", e.Limit)
}

// RedirectError says why a redirect was not followed.
type RedirectError struct {
	// To is where it leads, without credentials and query values.
	To     string
	Reason string
}

func (e *RedirectError) Error() string {
	return fmt.Sprintf("refused a redirect to %q: %s", e.To, e.Reason)
}

// HeaderError says that a header cannot be sent, which only credentials can
// cause: a token with a line break, for example.
type HeaderError struct{ Name string }

func (e *HeaderError) Error() string {
	return fmt.Sprintf("the value for the header %q holds characters that cannot be sent, such as a line break", e.Name)
}

// NetworkError is the failure of an exchange. It prints what a server has put
// into it harmlessly: net/http repeats headers that are malformed.
type NetworkError struct {
	Attempts int
	Err      error
}

func (e *NetworkError) Error() string {
	text := Printable(addrs.RedactText(e.Err.Error()))
	if e.Attempts > 1 {
		text += fmt.Sprintf(" (after %d attempts)", e.Attempts)
	}
	return text
}

func (e *NetworkError) Unwrap() error { return e.Err }

// ErrStalled says that a download has given too little over [StallTimeout].
var ErrStalled = minrate.ErrStalled

// ErrNoLength says that the end of a download is where the connection ends,
// which a lost connection does as well.
var ErrNoLength = errors.New("the server does not say how long the download is")

// ErrTooSlow says that a download has not ended within [DownloadTimeout].
var ErrTooSlow = errors.New("the download takes too long")

// withoutURL takes off the error of net/http that repeats the URL with all its
// secrets.
func withoutURL(err error) error {
	for {
		wrapped, ok := errors.AsType[*url.Error](err)
		if !ok {
			return err
		}
		err = wrapped.Err
	}
}
